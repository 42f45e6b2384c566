import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import type { CredentialsSettings } from '../../src/config/index.js'
import { openCredentials, readCredentials } from '../../src/credentials/index.js'
import { planJob } from '../../src/pipeline/plan/plan-job.js'
import { fixture } from '../helpers/job-bench.js'
import { ffmpeg } from '../helpers/media-factory.js'
import { describeWithC2pa } from '../helpers/read-by-stranger.js'
import { makeAuthority, type TestAuthority } from '../helpers/signing-authority.js'
import { folderOfTests } from '../helpers/system/folder-of-tests.js'
import { requestFor } from '../helpers/test-pipeline.js'

describeWithC2pa('a file that the package cannot write into', () => {
  const folder = folderOfTests()
  let authority: TestAuthority
  let settings: CredentialsSettings
  beforeAll(async () => {
    authority = makeAuthority(folder.path)
    settings = authority.sign('editor')
  })

  /** Signs a file as an output that was made from itself. */
  async function sign(path: string, container: string, own: Partial<CredentialsSettings> = {}) {
    const parent = `${path}.parent`
    copyFileSync(path, parent)
    const signed = await openCredentials({ ...settings, ...own }).sign({
      ...{
        path,
        container,
        sidecarPart: `${path}.c2pa`,
        parent: { path: parent, container, isSigned: false },
        level: 'fast',
      },
      facts: {
        ...{ output: 'out', sourceType: 'algorithmicallyEnhanced', input: { name: 'take', sha256: null } },
        ...{ recipeHash: '', preset: 'transparent', model: 'regen_v1', segments: [], tracks: [] },
      },
    })
    expect(readFileSync(path).equals(readFileSync(parent))).toBe(true)
    const sidecar = readFileSync(`${path}.c2pa`)
    const found = await readCredentials(path, container, { trust: authority.trust, sidecar })
    expect(found).toMatchObject({ state: 'trusted', parents: ['take'], failures: [] })
    return signed
  }

  it('has a sidecar, for a WAV whose sizes a recorder never wrote', async () => {
    const path = folder.file('unfinished.wav')
    const bytes = readFileSync(fixture('silence.wav'))
    bytes.writeUInt32LE(0xffffffff, bytes.indexOf('data') + 4)
    writeFileSync(path, bytes)
    expect(await sign(path, 'wav')).toMatchObject({ carrier: 'sidecar', reason: expect.stringMatching(/size exceeds/) })
  })

  it('has a sidecar, for an RF64 made from an RF64', async () => {
    const path = folder.file('long.wav')
    await ffmpeg('-i', fixture('silence.wav'), '-rf64', 'always', path)
    expect(await sign(path, 'wav')).toMatchObject({ carrier: 'sidecar', reason: null })
    const { inputCredentials, notes } = await planJob(requestFor(path, { signed: true }), {})
    expect([inputCredentials, notes.join()]).toEqual([null, expect.stringContaining('is signed')])
  })

  it('has a sidecar, for an MP3 whose chapters would be lost', async () => {
    const path = folder.file('chapters.mp3')
    const chapter = ['[CHAPTER]', 'TIMEBASE=1/1000', 'START=0', 'END=900', `title=Ä${'a'.repeat(99)}`]
    writeFileSync(folder.file('marks.txt'), [';FFMETADATA1', ...chapter, ''].join('\n'))
    const marked = ['-i', fixture('speech.mp3'), '-i', folder.file('marks.txt'), '-map_chapters', '1']
    await ffmpeg(...marked, '-c', 'copy', '-id3v2_version', '3', path)
    expect(await sign(path, 'mp3')).toMatchObject({ carrier: 'sidecar', reason: expect.stringMatching(/ID3 tag/) })
  })

  it('is not signed at all if the key fails', async () => {
    const path = folder.file('take.wav')
    copyFileSync(fixture('silence.wav'), path)
    // Signs the trial, and no more.
    const once = `test -e ${path}.once && exit 1; touch ${path}.once; openssl dgst -sha256 -sign ${settings.key}`
    const failed = sign(path, 'wav', { key: undefined, keyCommand: ['sh', '-c', once] })
    await expect(failed).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_FAILED' })
  })
})
