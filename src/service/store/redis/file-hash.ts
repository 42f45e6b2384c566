import { fileErrorCodeSchema, outputTypeSchema } from '../../../contract/index.js'
import { FILE_STATES, type FileRecord } from '../file-record.js'
import type { ExpiredData, FileChange } from '../files.js'
import { fieldsOf, numberOf } from './service-scripts.js'

/** Reads a record from the hash of a file. */
export function toFileRecord(hash: ReadonlyMap<string, string>): FileRecord {
  const text = (name: string) => hash.get(name) ?? ''
  const outputType = hash.get('outputType')
  return {
    id: text('id'),
    userId: text('userId'),
    clientFileId: text('clientFileId'),
    fileName: text('fileName'),
    sourceUrl: hash.get('sourceUrl') ?? null,
    startSec: numberOf(hash, 'startSec'),
    endSec: numberOf(hash, 'endSec'),
    webhook: hash.get('webhook') === '1',
    webhookSecret: hash.get('webhookSecret') ?? null,
    outputType: outputType === undefined ? null : outputTypeSchema.parse(outputType),
    state: FILE_STATES.find((state) => state === hash.get('state')) ?? 'failed',
    errorCode: fileErrorCodeSchema.parse(Number(text('errorCode'))),
    progress: Number(text('progress')),
    chargedMs: Number(hash.get('chargedMs') ?? Math.round(Number(text('chargedSec')) * 1000)),
    faults: Number(text('faults')),
    crashes: Number(text('crashes')),
    claim: numberOf(hash, 'claim'),
    isQueued: hash.get('isQueued') === '1',
    outputExtension: hash.get('outputExtension') ?? null,
    inputDeletedMs: numberOf(hash, 'inputDeletedMs'),
    outputDeletedMs: numberOf(hash, 'outputDeletedMs'),
    createdMs: Number(text('createdMs')),
    updatedMs: Number(text('updatedMs')),
    endedMs: numberOf(hash, 'endedMs'),
  }
}

/** Fields of a file that was not started yet. */
export const FRESH_FIELDS = {
  state: 'registered',
  errorCode: 0,
  progress: 0,
  chargedMs: 0,
  faults: 0,
  crashes: 0,
} as const

/** Fields that a change sets. Its script does the rest. */
export function changedFields(change: FileChange): (string | number)[] {
  switch (change.kind) {
    case 'start': {
      const { webhook, webhookSecret, outputType } = change.options
      const begun = { state: 'pending', errorCode: 0, faults: 0, crashes: 0, isQueued: 0 }
      return fieldsOf({ ...begun, webhook: webhook ? 1 : 0, webhookSecret, outputType })
    }
    case 'begin':
      return fieldsOf({ state: 'in-progress' })
    case 'progress':
      return fieldsOf({ progress: change.percent })
    case 'succeed':
      return fieldsOf({ state: 'succeeded', progress: 100, errorCode: 0, outputExtension: change.outputExtension })
    case 'fail':
      return fieldsOf({ state: 'failed', errorCode: change.errorCode })
    case 'tell':
    case 'input-deleted':
    case 'output-deleted':
      return []
    default:
      return change satisfies never
  }
}

/** The sorted set of each kind of file that expires. */
export const OUTLIVED_INDEX: Readonly<Record<ExpiredData, string>> = {
  input: 'inputs',
  output: 'outputs',
  unused: 'unused',
}
