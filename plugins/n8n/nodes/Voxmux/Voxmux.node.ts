import {
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  NodeConnectionTypes,
  NodeOperationError,
} from 'n8n-workflow'
import { VoxmuxError } from '../../../../src/core/errors.js'
import { eachItem } from '../../flow/each-item.js'
import { NODE_OPERATIONS, type Turn } from '../../flow/operations.js'
import { openSession } from '../../flow/session.js'

/** Regenerates the voice of files with the File Voice Regeneration Service. */
export class Voxmux implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Voxmux',
    name: 'voxmux',
    icon: { light: 'file:voxmux.svg', dark: 'file:voxmux.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"]}}',
    description: 'Regenerate the voice of audio and video files',
    defaults: { name: 'Voxmux' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'voxmuxApi', required: true }],
    properties: [
      {
        displayName: 'Operation',
        name: 'operation',
        type: 'options',
        noDataExpression: true,
        options: [
          {
            name: 'Download a File',
            value: 'download',
            action: 'Download a file',
            description: 'Download the output of a file that has succeeded',
          },
          {
            name: 'Get the Status of a File',
            value: 'getStatus',
            action: 'Get the status of a file',
            description: 'Ask the service how far a file is',
          },
          {
            name: 'Regenerate a File',
            value: 'regenerate',
            action: 'Regenerate a file',
            description: 'Send a file, wait for it, and download its output',
          },
          {
            name: 'Start a File',
            value: 'start',
            action: 'Start a file',
            description: 'Send a file and start it, without waiting for it',
          },
        ],
        default: 'regenerate',
      },
      {
        displayName: 'Input Binary Field',
        name: 'inputField',
        type: 'string',
        default: 'data',
        required: true,
        hint: 'The name of the input field with the file',
        displayOptions: { show: { operation: ['regenerate', 'start'] } },
      },
      {
        displayName: 'File ID',
        name: 'fileId',
        type: 'string',
        default: '',
        required: true,
        description: 'ID that "Start a File" returned, or that came in a webhook as message.fileId',
        displayOptions: { show: { operation: ['download', 'getStatus'] } },
      },
      {
        displayName: 'Output Binary Field',
        name: 'outputField',
        type: 'string',
        default: 'data',
        required: true,
        hint: 'The name of the output field for the regenerated file',
        displayOptions: { show: { operation: ['download', 'regenerate'] } },
      },
      {
        displayName: 'Options',
        name: 'options',
        type: 'collection',
        placeholder: 'Add option',
        default: {},
        displayOptions: { show: { operation: ['download', 'regenerate', 'start'] } },
        options: [
          {
            displayName: 'File Name',
            name: 'fileName',
            type: 'string',
            default: '',
            description: 'Name of the downloaded file. The file ID if empty.',
            displayOptions: { show: { '/operation': ['download'] } },
          },
          {
            displayName: 'Items at Once',
            name: 'atOnce',
            type: 'number',
            typeOptions: { minValue: 1 },
            default: 4,
            description: 'Number of items that are sent and awaited at the same time',
            displayOptions: { show: { '/operation': ['regenerate', 'start'] } },
          },
          {
            displayName: 'Output Type',
            name: 'outputType',
            type: 'options',
            options: [
              { name: 'AAC', value: 'aac' },
              { name: 'AIFF', value: 'aiff' },
              { name: 'FLAC', value: 'flac' },
              { name: 'M4A', value: 'm4a' },
              { name: 'MP3', value: 'mp3' },
              { name: 'Ogg', value: 'ogg' },
              { name: 'Opus', value: 'opus' },
              { name: 'Same as Input', value: '' },
              { name: 'WAV', value: 'wav' },
            ],
            default: '',
            description: 'Format of the output of an audio file',
            displayOptions: { show: { '/operation': ['regenerate', 'start'] } },
          },
          {
            displayName: 'Send Webhooks',
            name: 'webhook',
            type: 'boolean',
            default: false,
            hint: 'The service calls the webhook URL of its developer portal about this file.',
            displayOptions: { show: { '/operation': ['start'] } },
          },
          {
            displayName: 'Webhook Secret',
            name: 'webhookSecret',
            type: 'string',
            typeOptions: { password: true },
            default: '',
            description: 'Secret that the service sends with each webhook',
            displayOptions: { show: { '/operation': ['start'] } },
          },
        ],
      },
    ],
  }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const items = this.getInputData()
    if (items.length === 0) return [[]]
    const session = await openSession(this)
    const run = NODE_OPERATIONS[this.getNodeParameter('operation', 0) as keyof typeof NODE_OPERATIONS]
    const { atOnce = 4 } = this.getNodeParameter('options', 0, {}) as { atOnce?: number }
    const results = await eachItem(items.length, atOnce, this.getExecutionCancelSignal(), async (index, signal) => {
      const turn: Turn = { host: this, session, index, signal }
      const pairedItem = { item: index }
      try {
        return { ...(await run(turn)), pairedItem }
      } catch (thrown) {
        const error = new NodeOperationError(this.getNode(), thrown as Error, {
          itemIndex: index,
          description: nextStep(thrown, turn.fileId),
        })
        if (signal.aborted || !this.continueOnFail()) throw error
        return { json: { error: error.message, fileId: turn.fileId ?? null }, error, pairedItem }
      }
    })
    return [results]
  }
}

/** Text below the message of an error. */
function nextStep(thrown: unknown, fileId: string | undefined): string {
  const steps: string[] = []
  if (thrown instanceof VoxmuxError && thrown.errorName) steps.push(`${thrown.errorName} (${thrown.errorCode}).`)
  if (thrown instanceof VoxmuxError && thrown.exitCode === 6) steps.push(...thrown.remedies)
  if (fileId)
    steps.push(`The service has the file as ${fileId}: "Download a File" gets its output without paying again.`)
  return steps.join(' ')
}
