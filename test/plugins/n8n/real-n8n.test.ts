import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { faultyService } from '../../helpers/system/faulty-service.js'
import { freshFolder } from '../../service/support/with-service.js'
import { longVoice, numberedVoice, sparseFaults, unasked } from '../node-faults.js'
import { N8N, RealN8n } from './real-n8n.js'

const isSoak = Boolean(process.env.VOXMUX_SOAK)
if (!N8N) process.stderr.write('A real n8n is not tested: VOXMUX_N8N does not name its folder.\n')

const [items, faults] = isSoak ? [1000, 30] : [40, 5]
const regenerate = { operation: 'regenerate', inputField: 'data', outputField: 'data', options: {} }

describe.skipIf(!N8N)('in a real n8n', () => {
  it(`${items} items, ${faults} faults and a bad item: each file once, in its item`, async () => {
    const { folder, n8n, service } = await opened()
    service.plan = sparseFaults(items, faults)
    const voices = Array.from({ length: items }, (_, index) => numberedVoice(index))
    const nameOf = (index: number) => `voice-${String(index).padStart(4, '0')}`
    await Promise.all(voices.map((voice, index) => writeFile(join(folder, `in/${nameOf(index)}.wav`), voice)))
    await writeFile(join(folder, 'in/note.wav'), 'not a sound')
    await n8n.run(`${folder}/in/*.wav`, { parameters: regenerate, onError: 'continueRegularOutput' }, `${folder}/out`)
    const outputs = await readdir(join(folder, 'out'))
    expect(outputs.sort()).toEqual(voices.map((_, index) => `${nameOf(index)}.regen.wav`))
    for (const [index, voice] of voices.entries()) {
      expect(await readFile(join(folder, `out/${nameOf(index)}.regen.wav`))).toEqual(voice)
    }
    expect(service.faults).toBe(faults)
    expect(service.files.size).toBe(items + 1)
    expect(unasked(service)).toEqual([])
  }, 3_600_000)

  it('a retry of n8n goes on with the file that was paid, and so does a later download', async () => {
    const { folder, n8n, service } = await opened()
    // One more than the node asks: it fails, and n8n runs it again.
    service.plan = (operation, nth) => (operation === 'getOutputFileUrl' && nth <= 7 ? 'before' : undefined)
    await writeFile(join(folder, 'in/voice.wav'), numberedVoice(0))
    const again = { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 }
    await n8n.run(`${folder}/in/voice.wav`, { parameters: regenerate, ...again }, `${folder}/out`)
    expect(await readFile(join(folder, 'out/voice.regen.wav'))).toEqual(numberedVoice(0))
    expect([service.faults, service.calls.get('registerFile'), service.calls.get('startProcess')]).toEqual([7, 1, 1])

    const [fileId] = service.files.keys()
    const download = { operation: 'download', fileId, outputField: 'data', options: { fileName: 'later.wav' } }
    await n8n.run(`${folder}/in/voice.wav`, { parameters: download }, `${folder}/out`)
    expect(await readFile(join(folder, 'out/later.wav'))).toEqual(numberedVoice(0))
    expect(service.calls.get('registerFile')).toBe(1)
  }, 600_000)

  it.skipIf(!isSoak)('200 MB go through it in streams (only in the soak)', async () => {
    const { folder, n8n } = await opened()
    await writeFile(join(folder, 'in/short.wav'), numberedVoice(0))
    await writeFile(join(folder, 'in/long.wav'), longVoice(200e6))
    const run = (name: string) => n8n.run(`${folder}/in/${name}.wav`, { parameters: regenerate }, `${folder}/out`)
    const [short, long] = [await run('short'), await run('long')]
    expect((await readFile(join(folder, 'out/long.regen.wav'))).equals(longVoice(200e6))).toBe(true)
    expect(long.peakBytes - short.peakBytes).toBeLessThan(50e6)
  })
})

async function opened() {
  const service = await faultyService()
  const folder = await freshFolder()
  for (const name of ['in', 'out']) await mkdir(join(folder, name))
  return { folder, service, n8n: await RealN8n.install(folder, service) }
}
