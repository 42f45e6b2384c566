// A flow plugin of Tdarr: regenerates the voice of the file that goes through the flow. Tdarr loads it by require, from
// Plugins/FlowPlugins/LocalFlowPlugins/audio/voxmuxRegenerate/1.0.0/index.js, and calls details() and plugin(args).
const { spawn } = require('node:child_process')
const { mkdirSync } = require('node:fs')
const { basename, delimiter, dirname, join } = require('node:path')
const { createInterface } = require('node:readline')

/** Refused by the local pre-check: nothing was sent, and the flow may go on with the file as it is. */
const REFUSED = 5

const details = () => ({
  name: 'Regenerate Voice (voxmux)',
  description: 'Regenerates the voice of the file and changes nothing else.',
  style: { borderColor: 'green' },
  tags: 'audio',
  isStartPlugin: false,
  pType: '',
  requiresVersion: '2.11.01',
  sidebarPosition: -1,
  icon: 'faMicrophone',
  inputs: [
    {
      label: 'Command',
      name: 'command',
      type: 'string',
      defaultValue: 'voxmux',
      inputUI: { type: 'text' },
      tooltip: 'Path of voxmux on the node; a plain name is looked up in PATH.',
    },
    {
      label: 'Preset',
      name: 'preset',
      type: 'string',
      defaultValue: '',
      inputUI: { type: 'text' },
      tooltip: 'Preset, by name or path (see `voxmux presets`); empty for the configured one.',
    },
    {
      label: 'Track',
      name: 'track',
      type: 'string',
      defaultValue: '',
      inputUI: { type: 'text' },
      tooltip: 'Audio track: all, default, a number from 0, or lang:xxx; empty if there is only one.',
    },
    {
      label: 'Add track',
      name: 'addTrack',
      type: 'boolean',
      defaultValue: 'false',
      inputUI: { type: 'switch' },
      tooltip: 'Keep all tracks, and add the regenerated one as "Clear dialogue".',
    },
  ],
  outputs: [
    { number: 1, tooltip: 'The voice was regenerated: goes on with the new file' },
    { number: 2, tooltip: 'Refused by the pre-check (no sound, several tracks, …): goes on with the file as it was' },
  ],
})

const plugin = async (args) => {
  const lib = require('../../../../../methods/lib')()
  args.inputs = lib.loadDefaultValues(args.inputs, details)
  const { command, preset, track, addTrack } = args.inputs
  const input = args.inputFileObj._id
  const folder = join(args.workDir, `voxmux-${process.hrtime.bigint()}`)
  mkdirSync(folder, { recursive: true })
  const job = {
    input,
    output: join(folder, basename(input)),
    ...(preset ? { preset } : {}),
    ...(track ? { track: /^\d+$/.test(track) ? Number(track) : track } : {}),
    // Older versions of Tdarr hand a switch over as text.
    ...(String(addTrack) === 'true' ? { addTrack: true } : {}),
  }
  const { exitCode, result } = await runStep(command, job, args)
  const error = result?.error ?? result?.files?.[0]?.error
  if (error) args.jobLog(`voxmux: ${error.message} (${error.code}) ${error.remedies.join(' ')}`)
  if (!result) throw new Error(`${command} ended with ${exitCode} and did not say how: is it voxmux?`)
  if (exitCode === REFUSED) return { outputFileObj: { _id: input }, outputNumber: 2, variables: args.variables }
  if (exitCode !== 0) throw new Error(`voxmux ended with ${exitCode}${error ? `: ${error.message}` : ''}`)
  return { outputFileObj: { _id: result.output }, outputNumber: 1, variables: args.variables }
}

/** Runs `voxmux step -`: the job as JSON in, events out, the last of which is the result. */
function runStep(command, job, { jobLog, updateWorker }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, ['step', '-'], { stdio: ['pipe', 'pipe', 'pipe'], env: environmentFor(command) })
    // Tdarr ends a job by ending this process.
    const stop = () => child.kill()
    process.once('exit', stop)
    let result = null
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = eventOf(line)
      if (!event) jobLog(line)
      if (event?.event === 'progress') updateWorker({ percentage: event.percent })
      if (event?.event === 'result') result = event
    })
    createInterface({ input: child.stderr }).on('line', (line) => jobLog(line))
    child.once('error', (cause) => {
      const remedy = 'Set the input Command to its path on this node (command -v voxmux).'
      reject(new Error(`${command} could not be started: ${cause.message}. ${remedy}`, { cause }))
    })
    child.once('close', (exitCode) => {
      process.off('exit', stop)
      resolve({ exitCode, result })
    })
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify(job))
  })
}

/** npm puts node beside voxmux; a node of Tdarr that was started as a service may not have that folder in its PATH. */
function environmentFor(command) {
  const folder = dirname(command)
  return folder === '.' ? process.env : { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` }
}

/** A line that is no event is said by something that is not voxmux. */
function eventOf(line) {
  try {
    const event = JSON.parse(line)
    return typeof event?.event === 'string' ? event : undefined
  } catch {
    return undefined
  }
}

module.exports = { details, plugin }
