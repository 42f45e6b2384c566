import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { fixture } from '../../helpers/job-bench.js'
import { faultyService } from '../../helpers/system/faulty-service.js'
import { peakMemory } from '../../helpers/system/peak-memory.js'
import { freshFolder } from '../../service/support/with-service.js'
import { longVoice, numberedVoice, sparseFaults, unasked } from '../node-faults.js'
import { NODE_RED, startNodeRed } from './node-red-host.js'

const EXAMPLE = fileURLToPath(new URL('../../../plugins/node-red/examples/watch-a-folder.json', import.meta.url))
const isSoak = Boolean(process.env.VOXMUX_SOAK)

describe.skipIf(!NODE_RED)('in a real Node-RED', () => {
  const [items, faults] = isSoak ? [1000, 30] : [40, 5]
  it(`a flow regenerates paths, bytes and file ids, tells why it failed, and sends ${items} messages once`, async () => {
    const service = await faultyService()
    const folder = await freshFolder()
    const red = await startNodeRed(folder, service)
    const input = fixture('speech.wav')
    const voice = await readFile(input)

    // An output that cannot be written is refused before anything is sent.
    const unwritable = await red.run(input, { output: `${folder}/out/` })
    expect([unwritable.status, await unwritable.json()]).toEqual([
      500,
      { message: expect.stringContaining(`Cannot write into the folder ${folder}/out: it does not exist.`) },
    ])
    expect(service.calls.get('registerFile')).toBeUndefined()
    await mkdir(join(folder, 'out'))
    const path = await (await red.run(input, { output: `${folder}/out/` })).text()
    expect(path).toBe(join(folder, 'out', 'speech.regen.wav'))
    expect(await readFile(path)).toEqual(voice)
    expect(await readdir(join(folder, 'out'))).toEqual([basename(path)])

    const bytes = await red.run(voice)
    expect(Buffer.from(await bytes.arrayBuffer())).toEqual(voice)

    const replacing = await red.run(path, { output: path })
    expect([replacing.status, await replacing.json()]).toEqual([
      500,
      { message: expect.stringContaining('would replace its input') },
    ])

    // A text is no sound: the service refuses it, and the message names the file.
    await writeFile(join(folder, 'note.txt'), 'not a sound')
    const refused = await red.run(join(folder, 'note.txt'))
    expect([refused.status, await refused.json()]).toEqual([
      500,
      {
        message: expect.stringMatching(/could not process file id/),
        fileId: expect.any(String),
        input: join(folder, 'note.txt'),
        state: expect.stringMatching(/^11 bytes of /),
      },
    ])

    // A message that has a file id goes on with it.
    const before = service.calls.get('registerFile')
    const [fileId = ''] = service.files.keys()
    const resumed = await red.run(voice, { fileId })
    expect(Buffer.from(await resumed.arrayBuffer())).toEqual(voice)
    expect(service.calls.get('registerFile')).toBe(before)
    // One that has it of another file, as behind another node of this kind, begins anew.
    const other = await red.run(numberedVoice(0), { fileId, input })
    expect(Buffer.from(await other.arrayBuffer())).toEqual(numberedVoice(0))
    expect(service.calls.get('registerFile')).toBe((before ?? 0) + 1)
    expect(unasked(service)).toEqual([])

    // Two messages that would write one file: only one is sent.
    const sent = service.calls.get('registerFile') ?? 0
    const twins = await Promise.all([1, 2].map((n) => red.run(numberedVoice(n), { output: join(folder, 'one.wav') })))
    expect(twins.map(({ status }) => status).sort()).toEqual([200, 500])
    const twin = twins.find(({ status }) => status === 500)
    expect(await twin?.json()).toEqual({ message: expect.stringContaining('is being regenerated into') })
    expect(service.calls.get('registerFile')).toBe(sent + 1)

    const { clientSecret, ...values } = service.options
    const good = await red.admin('voxmux/test', { id: 'service', ...values, clientSecret: '__PWRD__' })
    expect(await good.json()).toEqual({ ok: true, message: 'The service accepts the key.' })
    const wrong = await red.admin('voxmux/test', { id: 'service', ...values, clientSecret: `${clientSecret}x` })
    expect(await wrong.json()).toEqual({ ok: false, message: expect.stringContaining('rejected the credentials') })

    // In the same Node-RED, because a start takes seconds. Each file is sent once, and started once.
    service.calls.clear()
    service.files.clear()
    service.plan = sparseFaults(items, faults)
    const voices = Array.from({ length: items }, (_, index) => numberedVoice(index))
    const outputs = await Promise.all(
      voices.map(async (voice) => Buffer.from(await (await red.run(voice)).arrayBuffer())),
    )
    const differ = outputs.filter((output, index) => !output.equals(voices[index] as Buffer))
    expect(differ.map((output) => output.toString('latin1', 0, 300))).toEqual([])
    expect(service.faults).toBe(faults)
    expect(service.files.size).toBe(items)
    expect(unasked(service)).toEqual([])
  }, 1_800_000)

  it('the example sends a file once that is copied slowly', async () => {
    const service = await faultyService()
    const folder = await freshFolder()
    const red = await startNodeRed(folder, service)
    for (const name of ['in', 'out']) await mkdir(join(folder, name))
    const { clientId, clientSecret, ...config } = service.options
    const own = {
      'vx-watch': { files: join(folder, 'in') },
      'vx-whole': { duration: '3' },
      'vx-voice': { output: `${folder}/out/`, service: 'service' },
    } as Readonly<Record<string, object>>
    const example = JSON.parse(await readFile(EXAMPLE, 'utf8')) as readonly { readonly id: string }[]
    const made = await red.admin('flows', [
      ...example.map((node) => ({ ...node, ...own[node.id] })),
      {
        ...{ id: 'service', type: 'voxmux-service', ...config, model: 'regen_v1' },
        credentials: { clientId, clientSecret },
      },
      { id: 'in', type: 'http in', z: 'vx-tab', url: '/run', method: 'post', x: 0, y: 0, wires: [['ok']] },
      { id: 'ok', type: 'http response', z: 'vx-tab', x: 0, y: 0, wires: [] },
    ])
    expect(made.status).toBe(204)
    await red.run('is it started?')
    const voice = await readFile(fixture('speech.wav'))
    const file = await open(join(folder, 'in', 'speech.wav'), 'w')
    for (let at = 0; at < voice.length; at += 50_000) {
      await file.write(voice.subarray(at, at + 50_000))
      await delay(300)
    }
    await file.close()
    await expect.poll(() => readdir(join(folder, 'out')), { timeout: 60_000 }).toEqual(['speech.regen.wav'])
    expect(await readFile(join(folder, 'out', 'speech.regen.wav'))).toEqual(voice)
    expect(service.calls.get('registerFile')).toBe(1)
  }, 120_000)

  it.skipIf(!isSoak)('200 MB go through it in streams (only in the soak)', async () => {
    const folder = await freshFolder()
    const red = await startNodeRed(folder, await faultyService())
    await writeFile(join(folder, 'short.wav'), numberedVoice(0))
    await writeFile(join(folder, 'long.wav'), longVoice(200e6))
    await red.run(join(folder, 'short.wav'), { output: join(folder, 'short.out.wav') })
    const before = await peakMemory(red.process)
    await red.run(join(folder, 'long.wav'), { output: join(folder, 'long.out.wav') })
    expect((await readFile(join(folder, 'long.out.wav'))).equals(longVoice(200e6))).toBe(true)
    expect((await peakMemory(red.process)) - before).toBeLessThan(50e6)
  })
})
