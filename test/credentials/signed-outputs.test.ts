import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { CredentialsSettings } from '../../src/config/index.js'
import type { VoxmuxError } from '../../src/core/errors.js'
import { loadC2pa } from '../../src/credentials/c2pa-package.js'
import { openCredentials, readCredentials } from '../../src/credentials/index.js'
import { probe } from '../../src/media/index.js'
import { requireCredentials } from '../../src/pipeline/job/assembly/sign-part.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { readReceipt } from '../../src/pipeline/output/receipt.js'
import { planJob } from '../../src/pipeline/plan/plan-job.js'
import { FaultServer } from '../helpers/fault-server.js'
import { fixture } from '../helpers/job-bench.js'
import { ffmpeg, type TestFolder, testFolder } from '../helpers/media-factory.js'
import { describeWithC2pa, readByStranger } from '../helpers/read-by-stranger.js'
import { makeAuthority, type TestAuthority } from '../helpers/signing-authority.js'
import { openTestPipeline, requestFor, type TestPipeline } from '../helpers/test-pipeline.js'

describeWithC2pa('an output with Content Credentials', () => {
  let server: FaultServer
  let folder: TestFolder
  let pipeline: TestPipeline
  let authority: TestAuthority
  let settings: CredentialsSettings

  beforeAll(async () => {
    server = await FaultServer.start()
    folder = await testFolder()
    pipeline = await openTestPipeline(server, folder.file('state'))
    authority = makeAuthority(folder.path)
    settings = authority.sign('editor')
  })
  afterAll(async () => {
    await pipeline.close()
    await server.close()
    await folder.remove()
  })

  /** Regenerates a file and signs the output. */
  async function regenerate(input: string, output: string, own: Partial<CredentialsSettings> = {}) {
    const context = { ...pipeline.context, credentials: openCredentials({ ...settings, ...own }) }
    const request = requestFor(input, { output: folder.file(output), signed: true })
    const { event } = await runJob(request, context)
    return { event, path: folder.file(output), receipt: await readReceipt(`${folder.file(output)}.voxmux.json`) }
  }

  /** A copy of a file with one byte changed. */
  function flipped(path: string, name: string, at: (bytes: Buffer) => number): string {
    const bytes = readFileSync(path)
    const place = at(bytes)
    bytes[place] = (bytes[place] ?? 0) ^ 1
    writeFileSync(folder.file(name), bytes)
    return folder.file(name)
  }

  const trusted = async (path: string, sidecar?: Buffer) =>
    readCredentials(path, (await probe(path)).container, { trust: authority.trust, sidecar })

  const embedded: readonly (readonly [name: string, type: string])[] = [
    ...(process.env.VOXMUX_SOAK
      ? ([
          ['phone.mp4', 'video/mp4'],
          ['speech.m4a', 'audio/mp4'],
        ] as const)
      : []),
    // In MP4 and M4A they lie as in MOV.
    ['timecode.mov', 'video/quicktime'],
    ['field-recorder.wav', 'audio/wav'],
    ['speech.mp3', 'audio/mpeg'],
    ['speech.flac', 'audio/flac'],
  ]
  it.each(embedded)('is trusted by two validators, which both find one changed byte: %s', async (name, type) => {
    const { event, path, receipt } = await regenerate(fixture(name), `signed-${name}`)
    expect(event.error).toBeNull()
    expect(receipt?.credentials).toMatchObject({
      ...{ carrier: 'embedded', reason: null, sourceType: 'compositeWithTrainedAlgorithmicMedia' },
    })
    expect(receipt?.verification.passed).toBe(true)
    expect(await trusted(path)).toMatchObject({ state: 'trusted', signer: 'editor, Test archive', parents: [name] })
    const stranger = await readByStranger(path, type, authority.trust)
    expect(stranger).toMatchObject({ state: 'Trusted', failures: [] })
    // In the middle of the last third lies sound, and in a film picture too.
    const bad = flipped(path, `bad-${name}`, ({ length }) => Math.round(length * 0.8))
    expect(await trusted(bad)).toMatchObject({ state: 'invalid', failures: [expect.stringMatching(/mismatch/)] })
    expect((await readByStranger(bad, type, authority.trust)).state).toBe('Invalid')
  })

  it('states what the embedded service did, with what, and to which part', async () => {
    const context = { ...pipeline.context, isEmbedded: true, credentials: openCredentials(settings) }
    const path = folder.file('facts.wav')
    await runJob(requestFor(fixture('speech.wav'), { output: path, signed: true }), context)
    const receipt = await readReceipt(`${path}.voxmux.json`)
    const { manifest } = await readByStranger(path, 'audio/wav', authority.trust)
    const data = (label: string) => manifest.assertions.find((assertion) => assertion.label.startsWith(label))?.data
    expect(data('org.voxmux.regeneration')).toEqual({
      ...{ schemaVersion: 1, preset: 'transparent', model: 'regen_v1', recipeHash: receipt?.recipeHash },
      input: { name: 'speech.wav', sha256: receipt?.input.sha256 },
      segments: receipt?.segments,
      tracks: [{ audioIndex: 0, channels: null }],
    })
    const { actions } = data('c2pa.actions') as { readonly actions: readonly Record<string, unknown>[] }
    expect(actions.map(({ action }) => action)).toEqual(['c2pa.opened', 'c2pa.edited'])
    expect(actions[1]?.digitalSourceType).toMatch(/algorithmicallyEnhanced$/)
    expect(receipt?.credentials?.sourceType).toBe('algorithmicallyEnhanced')
  })

  it.each(['surround.mkv', 'film.mxf', ...(process.env.VOXMUX_SOAK ? ['gap.m2ts', 'speech.aiff'] : [])])(
    'has a sidecar if it cannot hold them: %s',
    async (name) => {
      const input = folder.file(`in-${name}`)
      if (name === 'speech.aiff') await ffmpeg('-i', fixture('speech.wav'), input)
      else if (name === 'film.mxf') await ffmpeg('-i', fixture('phone.mp4'), '-t', '1', '-ar', '48000', input)
      else copyFileSync(fixture(name), input)
      const context = { ...pipeline.context, credentials: openCredentials(settings) }
      const output = folder.file(name)
      const recipe = name === 'surround.mkv' ? { channels: 'center' as const } : {}
      const { event } = await runJob(requestFor(input, { output, signed: true, recipe }), context)
      expect(event.error).toBeNull()
      const sidecar = readFileSync(`${output}.c2pa`)
      expect(await trusted(output, sidecar)).toMatchObject({ state: 'trusted', parents: [`in-${name}`] })
      const bad = flipped(output, `bad-${name}`, ({ length }) => length >> 1)
      expect(await trusted(bad, sidecar)).toMatchObject({ state: 'invalid' })
      expect((await readReceipt(`${output}.voxmux.json`))?.credentials?.carrier).toBe('sidecar')
    },
  )

  /** Signs a copy of a fixture without a job. */
  async function sign(name: string, own: Partial<CredentialsSettings>) {
    const path = folder.file(name)
    copyFileSync(fixture('silence.wav'), path)
    await openCredentials({ ...settings, ...own }).sign({
      ...{ path, container: 'wav', sidecarPart: `${path}.c2pa`, parent: null, level: 'full' },
      facts: {
        ...{ output: name, sourceType: 'algorithmicallyEnhanced', input: { name: 'take.wav', sha256: null } },
        ...{ recipeHash: '', preset: 'transparent', model: 'regen_v1', segments: [], tracks: [] },
      },
    })
    return trusted(path)
  }

  it('carries the credentials of its input on, valid or not', async () => {
    // Without a receipt beside it, the output of an earlier test is a file like any other.
    const good = folder.file('camera.mov')
    copyFileSync(folder.file('signed-timecode.mov'), good)
    const bad = folder.file('broken.mov')
    copyFileSync(folder.file('bad-timecode.mov'), bad)
    for (const [input, state, fault] of [
      [good, 'valid', null],
      [bad, 'invalid', 'assertion.bmffHash.mismatch'],
    ] as const) {
      const { event, path, receipt } = await regenerate(input, `of-${state}.mov`)
      expect(event.error).toBeNull()
      expect(receipt?.credentials?.parent).toEqual({
        state,
        signer: 'editor, Test archive',
        failures: fault ? [fault] : [],
      })
      expect(receipt?.losses).toEqual([])
      expect(receipt?.notes.join()).toContain('They become the parent')
      expect(await trusted(path)).toMatchObject({ state: 'trusted', parents: [`${basename(input)}`] })
      const { state: strangers, manifest } = await readByStranger(path, 'video/quicktime', authority.trust)
      expect([strangers, manifest.ingredients.length]).toEqual(['Trusted', 1])
      expect(manifest.ingredients[0]).toMatchObject({ relationship: 'parentOf', active_manifest: expect.any(String) })
    }
  })

  it.each(embedded.map(([name]) => name))(
    'names the credentials of its input as lost if it is not signed, and --strict refuses them: %s',
    async (name) => {
      const lost = { reason: expect.stringMatching(/Content Credentials/) }
      const input = folder.file(`camera-${name}`)
      copyFileSync(folder.file(`signed-${name}`), input)
      const plan = await planJob(requestFor(input, { strict: true }), {})
      expect(plan.mux.losses).toEqual(expect.arrayContaining([expect.objectContaining(lost)]))
      expect(plan.strictRefusal).toMatchObject({ code: 'ERR_STRICT_LOSSES' })
      const remuxed = await planJob(requestFor(input, { output: folder.file('other.mka') }), {})
      expect(remuxed.mux.losses).toEqual(expect.arrayContaining([expect.objectContaining(lost)]))
    },
  )

  it.each(['timecode.mov', 'speech.flac'])('never carries a stale manifest: %s', async (name) => {
    const output = folder.file(`unsigned-${name}`)
    const input = folder.file(`camera-of-${name}`)
    copyFileSync(folder.file(`signed-${name}`), input)
    const { event } = await runJob(requestFor(input, { output }), pipeline.context)
    expect(event.error).toBeNull()
    expect(await trusted(output)).toBeNull()
    expect(readFileSync(output).includes('c2pa.claim')).toBe(false)
  })

  it.each([
    ['an RSA key', 'RSA rsa_keygen_bits:2048'],
    ['an Ed25519 key', 'ED25519'],
    ['a P-384 key', 'EC ec_paramgen_curve:P-384'],
  ])('is trusted with %s', async (name, key) => {
    expect(await sign(`${name}.wav`, authority.sign(name, { key }))).toMatchObject({ state: 'trusted' })
  })

  it('is signed with a key in the environment, and by a command as for PKCS#11', async () => {
    const { key = '' } = settings
    process.env.TEST_SIGNING_KEY = readFileSync(key, 'utf8')
    onTestFinished(() => void delete process.env.TEST_SIGNING_KEY)
    const variable = { key: undefined, keyVariable: 'TEST_SIGNING_KEY' }
    expect(await sign('variable.wav', variable)).toMatchObject({ state: 'trusted' })
    const command = { key: undefined, keyCommand: ['openssl', 'dgst', '-sha256', '-sign', key] }
    expect(await sign('command.wav', command)).toMatchObject({ state: 'trusted' })
  })

  it('is refused before anything is sent, and leaves nothing', async () => {
    const before = server.requests.length
    const { event, path } = await regenerate(fixture('speech.wav'), 'refused.wav', authority.sign('old', { days: -1 }))
    expect(event).toMatchObject({ status: 'failed', error: { code: 'ERR_CREDENTIALS_CERT' } })
    expect([existsSync(path), server.requests.length]).toEqual([false, before])
    const unsigned = requestFor(fixture('speech.wav'), { output: path, signed: true })
    expect((await runJob(unsigned, pipeline.context)).event.error?.code).toBe('ERR_CREDENTIALS_MISSING')
  })

  it('names what is wrong with certificate and key, without a word of the key', async () => {
    const missing = folder.file('missing.pem')
    const cases: readonly (readonly [Partial<CredentialsSettings>, string])[] = [
      [{ key: authority.sign('other').key }, 'ERR_CREDENTIALS_KEY'],
      [{ key: authority.sign('rsa', { key: 'RSA rsa_keygen_bits:2048' }).key }, 'ERR_CREDENTIALS_KEY'],
      [{ key: missing }, 'ERR_CREDENTIALS_KEY'],
      [{ key: settings.cert }, 'ERR_CREDENTIALS_KEY'],
      [{ key: undefined }, 'ERR_CREDENTIALS_KEY'],
      [{ key: undefined, keyVariable: 'NOT_SET_AT_ALL' }, 'ERR_CREDENTIALS_KEY'],
      [{ key: undefined, keyCommand: ['false'] }, 'ERR_CREDENTIALS_KEY'],
      [{ key: undefined, keyCommand: ['cat', settings.key ?? ''] }, 'ERR_CREDENTIALS_KEY'],
      [{ cert: missing }, 'ERR_CREDENTIALS_CERT'],
      [authority.sign('a web server', { usage: 'serverAuth' }), 'ERR_CREDENTIALS_CERT'],
    ]
    const secret = readFileSync(settings.key ?? '', 'utf8').split('\n')[1] ?? ''
    for (const [own, code] of cases) {
      const fault = await openCredentials({ ...settings, ...own })
        .require()
        .catch((error: VoxmuxError) => error)
      expect(fault, JSON.stringify(own)).toMatchObject({ code, exitCode: 2, remedies: [expect.any(String)] })
      expect(inspect(fault, { depth: 9 })).not.toContain(secret)
    }
  })
})

it('needs an optional package, and names what installs it', async () => {
  const absent: string = '@contentauth/not-installed'
  const fault = await loadC2pa(() => import(absent)).catch((error: VoxmuxError) => error)
  expect(fault).toMatchObject({ code: 'ERR_CREDENTIALS_PACKAGE', exitCode: 2 })
  expect((fault as VoxmuxError).remedies[0]).toMatch(/^npm install --prefix \S+ @contentauth\/c2pa-node@0\.5\.5$/)
})

it('refuses a WAV that is too large for the memory, before anything is sent, and no film', async () => {
  const of = (container: string) => requireCredentials({ signed: true }, {}, { sizeBytes: 1e9, container }, 2e9)
  await expect(of('wav')).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_MEMORY', exitCode: 5 })
  await expect(of('mp4')).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_MISSING' })
  const endless = requireCredentials({ signed: true }, {}, { sizeBytes: 1e18, container: 'mp4' })
  await expect(endless).rejects.toMatchObject({ code: 'ERR_DISK_FULL', input: tmpdir() })
})
