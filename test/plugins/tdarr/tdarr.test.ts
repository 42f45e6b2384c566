import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { jobBench } from '../../helpers/job-bench.js'
import { ffprobeJson } from '../../helpers/media-factory.js'
import { installVoxmux } from '../../helpers/step-command.js'

const PLUGIN = fileURLToPath(new URL('../../../plugins/tdarr/flow-plugin.cjs', import.meta.url))
/** As Tdarr's own methods/lib does it to text: without the spaces around it, and what is empty is what `details` says. */
const LIB = `module.exports = () => ({
  loadDefaultValues: (inputs, details) => {
    for (const { name, defaultValue } of details().inputs) {
      if (typeof inputs[name] === 'string') inputs[name] = inputs[name].trim()
      if (inputs[name] === undefined || inputs[name] === '') inputs[name] = defaultValue
    }
    return inputs
  },
})`

interface Flow {
  readonly details: () => {
    readonly inputs: readonly { readonly name: string }[]
    readonly outputs: readonly unknown[]
  }
  readonly plugin: (
    args: object,
  ) => Promise<{ outputFileObj: { _id: string }; outputNumber: number; variables: unknown }>
}

const bench = jobBench()

/** Installs the plugin where Tdarr's folders have it, and loads it as Tdarr does. */
async function load(): Promise<Flow> {
  const plugins = bench.folder.file('Tdarr/Plugins')
  const home = `${plugins}/FlowPlugins/LocalFlowPlugins/audio/voxmuxRegenerate/1.0.0/index.js`
  await mkdir(dirname(home), { recursive: true })
  await mkdir(`${plugins}/methods`, { recursive: true })
  await writeFile(`${plugins}/methods/lib.js`, LIB)
  await copyFile(PLUGIN, home)
  return createRequire(import.meta.url)(home) as Flow
}

/** Runs it over a file, as a flow does. */
async function run(flow: Flow, input: string, inputs: object = {}) {
  const [log, percents] = [[] as string[], [] as number[]]
  await mkdir(bench.folder.file('cache'), { recursive: true })
  Object.assign(process.env, bench.server.env, { VOXMUX_STATE_DIR: bench.folder.file('cli') })
  const result = await flow.plugin({
    inputFileObj: { _id: input },
    inputs: { command: installVoxmux(bench.folder.path), ...inputs },
    variables: { user: { a: 'b' } },
    workDir: bench.folder.file('cache'),
    jobLog: (line: string) => log.push(line),
    updateWorker: ({ percentage }: { percentage: number }) => percents.push(percentage),
  })
  return { ...result, log: log.join('\n'), percents }
}

describe('the flow plugin of Tdarr', () => {
  it('describes its inputs and outputs', async () => {
    const { inputs, outputs } = (await load()).details()
    expect(inputs.map(({ name }) => name)).toEqual(['command', 'preset', 'track', 'addTrack'])
    expect(outputs).toMatchObject([{ number: 1 }, { number: 2 }])
  })

  it('hands on the new file, or the old one where the pre-check refuses it', async () => {
    const flow = await load()
    const done = await run(flow, await bench.take('phone.mp4'))
    expect(done).toMatchObject({ outputNumber: 1, variables: { user: { a: 'b' } } })
    expect(done.outputFileObj._id).toMatch(/cache\/voxmux-\d+\/phone\.mp4$/)
    expect(done.percents.at(-1)).toBe(100)
    const mute = await bench.take('no-audio.mp4')
    const refused = await run(flow, mute)
    expect(refused).toMatchObject({ outputNumber: 2, outputFileObj: { _id: mute } })
    expect(refused.log).toMatch(/no audio/i)
    const two = await bench.take('two-tracks.mkv')
    expect(await run(flow, two)).toMatchObject({ outputNumber: 2 })
    expect(await run(flow, two, { preset: '', track: ' 1 ' })).toMatchObject({ outputNumber: 1 })
  })

  it('adds a track if the flow wants that', async () => {
    const added = await run(await load(), await bench.take('phone.mp4'), { addTrack: true })
    const { streams } = await ffprobeJson(added.outputFileObj._id, '-show_streams', '-select_streams', 'a')
    expect(streams).toMatchObject([{}, { tags: { handler_name: 'Clear dialogue' } }])
  })

  it('fails the flow where the job fails', async () => {
    const flow = await load()
    const film = '/nowhere/film.mkv'
    await expect(run(flow, film)).rejects.toThrow(/ended with 2: .*film\.mkv does not exist/)
    await expect(run(flow, film, { preset: 'nonesuch' })).rejects.toThrow(
      /ended with 2: The preset "nonesuch" does not exist/,
    )
    await expect(run(flow, film, { command: '/nowhere/voxmux' })).rejects.toThrow(/not be started/)
    await expect(run(flow, film, { command: '/bin/echo' })).rejects.toThrow(/ended with 0 and did not say how/)
  })
})
