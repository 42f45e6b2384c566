import { link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileSha256 } from '../../../src/core/file-identity.js'
import type { FileEngine, ServiceOptions } from '../../../src/service/index.js'
import { faultyService } from '../../helpers/system/faulty-service.js'
import { freshFolder } from '../../service/support/with-service.js'
import { numberedVoice, sparseFaults, unasked, writePaddedVoice } from '../node-faults.js'
import { credentialOf, N8N, RealN8n } from './real-n8n.js'

const isSoak = Boolean(process.env.VOXMUX_SOAK)
if (!N8N) process.stderr.write('A real n8n is not tested: VOXMUX_N8N does not name its folder.\n')

const [items, faults] = isSoak ? [1000, 30] : [40, 5]
/** Read by n8n, stored by the service, downloaded and written: four times. */
const LONG_BYTES = 10e9

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

  it('the test button of the credential tells a good secret from a wrong one', async () => {
    const { n8n, service } = await opened()
    const post = await n8n.serve()
    const { data } = credentialOf(service)
    const stored = await post('credentials', { name: 'Tested', type: 'voxmuxApi', data })
    const tested = (secret: string) =>
      post('credentials/test', { credentials: { ...stored, data: { ...data, clientSecret: secret } } })
    const { clientSecret } = service.options
    expect(await tested(clientSecret)).toMatchObject({ status: 'OK' })
    expect(await tested(`${clientSecret}x`)).toMatchObject({ status: 'Error', message: expect.any(String) })
    expect(service.calls.get('token')).toBeGreaterThanOrEqual(2)
  }, 600_000)

  it.skipIf(!isSoak)('10 GB go through it in streams (only in the soak, with 40 GB of disk)', async () => {
    const { folder, n8n } = await opened({ engine: linkingEngine })
    const [short, long] = [join(folder, 'in/short.wav'), join(folder, 'in/long.wav')]
    await writePaddedVoice(short, 1e6)
    await writePaddedVoice(long, LONG_BYTES)
    const run = (path: string) => n8n.run(path, { parameters: regenerate }, `${folder}/out`)
    const growth = -(await run(short)).peakBytes + (await run(long)).peakBytes
    expect(await fileSha256(join(folder, 'out/long.regen.wav'))).toBe(await fileSha256(long))
    expect(growth).toBeLessThan(50e6)
  })
})

/** Gives back what it got, which takes no more disk. */
const linkingEngine = async (): Promise<FileEngine> => ({
  async processFile({ input, output, onProgress }) {
    await link(input, output)
    onProgress(100)
    return { extension: 'wav' }
  },
})

async function opened(options: Partial<ServiceOptions> = {}) {
  const service = await faultyService(options)
  const folder = await freshFolder()
  for (const name of ['in', 'out']) await mkdir(join(folder, name))
  return { folder, service, n8n: await RealN8n.install(folder, service) }
}
