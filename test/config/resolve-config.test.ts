import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { safeAddress } from '../../src/client/index.js'
import { describeOrigin } from '../../src/config/merge-layers.js'
import { type Config, type ResolveOptions, resolveConfig } from '../../src/config/resolve-config.js'
import { requireService } from '../../src/config/service-target.js'
import { ensureStateFolder } from '../../src/config/state-folder.js'
import { UsageError } from '../../src/core/errors.js'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'voxmux-config-'))
  await mkdir(join(root, 'work/deep'), { recursive: true })
})
afterEach(() => rm(root, { recursive: true, force: true }))

const SERVICE = {
  VOXMUX_BASE_URL: 'https://voice.example',
  VOXMUX_AUTH_URL: 'https://login.example',
  VOXMUX_TENANT_ID: 't',
  VOXMUX_CLIENT_ID: 'c',
  VOXMUX_CLIENT_SECRET: 'hidden',
  VOXMUX_SCOPE: 'api://voice/.default',
}

async function put(path: string, content: unknown): Promise<string> {
  const absolute = join(root, path)
  await mkdir(dirname(absolute), { recursive: true })
  await writeFile(absolute, typeof content === 'string' ? content : JSON.stringify(content))
  return absolute
}

function resolved(options: Partial<ResolveOptions> = {}): Promise<Config> {
  return resolveConfig({
    cwd: join(root, 'work/deep'),
    env: {},
    folders: { config: join(root, 'user'), data: join(root, 'state') },
    ...options,
  })
}

const originOf = (config: Config, path: string) => {
  const origin = config.origins.get(path)
  return origin && describeOrigin(origin)
}

describe('resolveConfig', () => {
  it('without anything: the embedded service and the preset that changes nothing', async () => {
    const config = await resolved()
    expect(config).toMatchObject({
      profile: null,
      service: { kind: 'embedded' },
      preset: { name: 'transparent' },
      recipe: { track: 'only', channels: 'auto', verify: 'full', loudness: null },
      stateDir: join(root, 'state'),
      notes: [],
    })
    expect(config.limits.maxChannels).toBe(2)
    expect(config.limits.requireVoice).toBe(false)
  })

  it('lays flag over environment over file over own file over preset over default', async () => {
    const file = await put('work/voxmux.config.json', { preset: 'podcast', channels: 'each', track: 1, verify: 'fast' })
    const own = await put('user/config.json', { channels: 'downmix', concurrency: 7 })
    const config = await resolved({ env: { VOXMUX_CHANNELS: 'center', VOXMUX_TRACK: '2' }, flags: { track: 3 } })
    expect(config.recipe).toMatchObject({ track: 3, channels: 'center', verify: 'fast' })
    expect(config.recipe.loudness).toEqual({ targetLufs: -16, truePeakDbtp: -1 })
    expect(config.concurrency).toBe(7)
    expect(
      ['track', 'channels', 'verify', 'concurrency', 'loudness.targetLufs', 'strict'].map((path) =>
        originOf(config, path),
      ),
    ).toEqual(['--track', 'VOXMUX_CHANNELS', file, own, 'preset podcast', 'default'])
  })

  it('a value hides the section below it', async () => {
    await put('work/voxmux.config.json', { preset: 'podcast', loudness: null })
    expect((await resolved()).recipe.loudness).toBeNull()
    await put('work/voxmux.config.json', { loudness: { targetLufs: -20 } })
    expect((await resolved()).recipe.loudness).toEqual({ targetLufs: -20, truePeakDbtp: -1 })
  })

  it('says what a loudness target lacks', async () => {
    await put('work/voxmux.config.json', { loudness: { truePeakDbtp: -2 } })
    await expect(resolved()).rejects.toThrow('"loudness.targetLufs" is missing')
  })

  it('counts a preset path from the file that names it', async () => {
    await put('work/look.json', { description: 'Mine.', track: 'all' })
    await put('work/voxmux.config.json', { preset: './look.json' })
    expect((await resolved()).recipe.track).toBe('all')
  })

  it.each([
    [{ chanels: 'each' }, 'ERR_CONFIG_KEY', 'unknown key "chanels" (did you mean "channels"?)'],
    [
      { limits: { maxDuration: 3 } },
      'ERR_CONFIG_KEY',
      'unknown key "limits.maxDuration" (did you mean "limits.maxDurationSec"?)',
    ],
    [{ baseUrl: 'https://x.example' }, 'ERR_CONFIG_KEY', 'unknown key "baseUrl" (did you mean "service.baseUrl"?)'],
    [{ verify: 'none' }, 'ERR_CONFIG_VALUE', '"verify" must be one of "full", "fast"'],
    [{ keepOriginal: true, addTrack: true }, 'ERR_CONFIG_VALUE', 'puts the original second, and addTrack'],
    [{ concurrency: 0 }, 'ERR_CONFIG_VALUE', '"concurrency" must be at least 1'],
    ['{ nope', 'ERR_CONFIG_SYNTAX', 'is not valid JSON (line 1)'],
    ['', 'ERR_CONFIG_SYNTAX', 'is not valid JSON: it is empty.'],
    ['[1]', 'ERR_CONFIG_VALUE', 'voxmux.config.json: it must be an object.'],
    [{ watch: { settleSec: '10s' } }, 'ERR_CONFIG_VALUE', '"watch.settleSec" must be a number of seconds.'],
    [{ cacheMaxBytes: '5GB' }, 'ERR_CONFIG_VALUE', '"cacheMaxBytes" must be a number of bytes.'],
    ['{\n  "limits": {},\n  // why\n  "strict": true\n}\n', 'ERR_CONFIG_SYNTAX', 'is not valid JSON (line 3)'],
    ['{\n  "limits": {},\n  "strict": yes,\n  "report": true\n}\n', 'ERR_CONFIG_SYNTAX', '(line 3)'],
    ['{\n  "limits": {},\n  "strict": true\n\n\n', 'ERR_CONFIG_SYNTAX', '(line 3)'],
    ['{\n  "strict": true\n}\n}', 'ERR_CONFIG_SYNTAX', '(line 4)'],
  ])('refuses %j', async (content, code, message) => {
    const path = await put('work/voxmux.config.json', content)
    const error = await resolved().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, exitCode: 2, message: expect.stringContaining(message) })
    expect(error).toMatchObject({ message: expect.stringContaining(path) })
  })

  it.each([
    [{ service: { baseUrl: 'https://evil.example' } }, '"service.baseUrl"', 'VOXMUX_BASE_URL'],
    [{ profiles: { production: { authUrl: 'https://evil.example' } } }, '"profiles.production.authUrl"', 'config.json'],
    [{ webhook: { listen: '0.0.0.0:80' } }, '"webhook.listen"', 'VOXMUX_WEBHOOK_LISTEN'],
    [{ extensions: ['./evil.mjs'] }, '"extensions"', '--config'],
    [{ credentials: { cert: 'c.pem', keyCommand: ['./evil'] } }, '"credentials.keyCommand"', '--config'],
    [{ ffmpeg: './evil' }, '"ffmpeg"', 'VOXMUX_FFMPEG'],
    [{ stateDir: '/tmp/evil' }, '"stateDir"', 'VOXMUX_STATE_DIR'],
    [{ store: 'postgres://evil.example' }, '"store"', 'VOXMUX_STORE'],
  ])('a found file may not set %j; a named one may', async (content, named, place) => {
    const path = await put('work/voxmux.config.json', content)
    const error = await resolved().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'ERR_CONFIG_NOT_ALLOWED',
      exitCode: 2,
      message: expect.stringContaining(named),
    })
    expect((error as { remedies: string[] }).remedies.join()).toContain(place)
    await expect(resolved({ configPath: path })).resolves.toBeDefined()
  })

  it.skipIf(process.platform === 'win32')('opens no pipe, device or folder that has the name of the file', async () => {
    const path = join(root, 'work/voxmux.config.json')
    const makers = [
      () => execFileSync('mkfifo', [path]),
      () => symlink('/dev/zero', path),
      () => mkdir(path),
      async () => truncate(await put('work/voxmux.config.json', ''), 2 ** 40),
    ]
    for (const make of makers) {
      await make()
      await expect(resolved()).rejects.toMatchObject({ code: 'ERR_CONFIG_MISSING', exitCode: 2 })
      await rm(path, { recursive: true })
    }
  })

  it('prefers the store of the environment', async () => {
    const path = await put('work/named.json', { store: 'postgres://jobs.example' })
    expect(await resolved({ configPath: path })).toMatchObject({ store: 'postgres://jobs.example' })
    const env = { VOXMUX_STORE: 'postgres://other.example' }
    expect(await resolved({ configPath: path, env })).toMatchObject({ store: 'postgres://other.example' })
  })

  it('runs no program that merely lies there, but the one that is named', async () => {
    const path = await put('work/deep/voxmux.config.mjs', 'export default { track: "all" }')
    const found = await resolved()
    expect(found.recipe.track).toBe('only')
    expect(found.notes.join()).toContain('--config')
    expect((await resolved({ configPath: 'voxmux.config.mjs' })).recipe.track).toBe('all')
    expect((await resolved({ env: { VOXMUX_CONFIG: path } })).recipe.track).toBe('all')
  })

  it('names the variable or the flag whose value is wrong', async () => {
    await expect(resolved({ env: { VOXMUX_CONCURRENCY: 'many' } })).rejects.toThrow(/^VOXMUX_CONCURRENCY: .*number/)
    await expect(resolved({ env: { VOXMUX_BASE_URL: 'http://voice.example' } })).rejects.toThrow(
      /^VOXMUX_BASE_URL: .*https/,
    )
    await expect(resolved({ env: { VOXMUX_BASE_URL: 'voice.example:8080' } })).rejects.toThrow(
      'VOXMUX_BASE_URL: "service.baseUrl" must be a complete address, such as https://voice.example.com.',
    )
    await expect(resolved({ flags: { chunkSec: 1 } })).rejects.toThrow('--chunk must be at least 10 seconds.')
  })

  it('notes a variable that is one letter off', async () => {
    const { notes } = await resolved({ env: { VOXMUX_BASEURL: 'https://x.example', VOXMUX_SOMETHING_ELSE: '1' } })
    expect(notes).toEqual(['VOXMUX_BASEURL is not a variable of voxmux. Did you mean VOXMUX_BASE_URL?'])
  })
})

describe('the service', () => {
  it('is what the environment says, without limits that nobody told', async () => {
    const config = await resolved({ env: SERVICE })
    expect(requireService(config)).toMatchObject({
      kind: 'remote',
      baseUrl: 'https://voice.example',
      scope: SERVICE.VOXMUX_SCOPE,
    })
    expect(config.limits).toEqual({ requireVoice: false })
  })

  it('is embedded with the profile local, whatever is set', async () => {
    expect((await resolved({ env: SERVICE, flags: { profile: 'local' } })).service.kind).toBe('embedded')
  })

  it('names every variable that is missing', async () => {
    const config = await resolved({
      flags: { profile: 'sandbox' },
      env: { VOXMUX_CLIENT_ID: 'c', VOXMUX_CLIENT_SECRET: 's' },
    })
    expect(() => requireService(config)).toThrow(
      'The profile "sandbox" is incomplete: VOXMUX_BASE_URL, VOXMUX_AUTH_URL, VOXMUX_TENANT_ID, VOXMUX_SCOPE are not set.',
    )
  })

  it('is never silently the embedded one when half is configured', async () => {
    const config = await resolved({ env: { ...SERVICE, VOXMUX_SCOPE: '' } })
    expect(() => requireService(config)).toThrow('VOXMUX_SCOPE is not set')
  })

  it('takes the section of its profile', async () => {
    const { VOXMUX_BASE_URL: _, ...rest } = SERVICE
    const at = (host: string) => ({ baseUrl: `https://${host}.example` })
    await put('user/config.json', {
      service: at('all'),
      profiles: { sandbox: at('sandbox'), production: at('production') },
    })
    const base = async (options: Partial<ResolveOptions>) => (await resolved({ env: rest, ...options })).service
    expect(await base({ flags: { profile: 'sandbox' } })).toMatchObject(at('sandbox'))
    expect(await base({ flags: { profile: 'production' } })).toMatchObject(at('production'))
    expect(await base({})).toMatchObject(at('all'))
    const named = await resolved({ env: SERVICE, flags: { profile: 'sandbox' } })
    expect(() => requireService(named)).toThrow('"sandbox" and VOXMUX_BASE_URL describe different services')
    await put('user/config.json', { profiles: { production: { baseUrl: SERVICE.VOXMUX_BASE_URL } } })
    const other = await resolved({ env: SERVICE, flags: { profile: 'sandbox' } })
    expect(() => requireService(other)).toThrow('VOXMUX_BASE_URL is the address of another profile, not of "sandbox"')
  })

  it('is that of a profile named on the command line, whatever the environment describes', async () => {
    const sandbox = {
      ...{ baseUrl: 'https://sandbox.example', authUrl: 'https://login.example', tenantId: 'tenant-of-sandbox' },
      ...{ clientId: 'client-of-sandbox', clientSecret: 'secret-of-sandbox', scope: 'api://sandbox/.default' },
    }
    await put('user/config.json', { profiles: { sandbox } })
    const service = async (options: Partial<ResolveOptions>) => (await resolved({ env: SERVICE, ...options })).service
    expect(await service({ flags: { profile: 'sandbox' } })).toEqual({ kind: 'remote', ...sandbox })
    // A profile of the environment or of a file gives way to the environment as a whole, never in part.
    const byVariable = { ...SERVICE, VOXMUX_PROFILE: 'sandbox' }
    expect(await service({ env: byVariable })).toMatchObject({ baseUrl: SERVICE.VOXMUX_BASE_URL })
    const { VOXMUX_BASE_URL, VOXMUX_PROFILE } = byVariable
    expect(await service({ env: { VOXMUX_BASE_URL, VOXMUX_PROFILE } })).toMatchObject({ kind: 'mixed' })
    expect(await service({ env: { VOXMUX_PROFILE, VOXMUX_CLIENT_SECRET: 'renewed' } })).toMatchObject({
      ...sandbox,
      clientSecret: 'renewed',
    })
  })

  it('takes plain http to this machine only', async () => {
    const local = { ...SERVICE, VOXMUX_BASE_URL: 'http://127.0.0.1:8080', VOXMUX_AUTH_URL: 'http://[::1]:8080' }
    expect((await resolved({ env: local })).service.kind).toBe('remote')
  })

  it.each(['http://127.0.0.1.evil.example', 'http://voxmux.localhost', 'ftp://localhost'])(
    'refuses %s, as the client does',
    async (address) => {
      await expect(resolved({ env: { ...SERVICE, VOXMUX_BASE_URL: address } })).rejects.toThrow('VOXMUX_BASE_URL')
      expect(() => safeAddress(address, 'The address')).toThrow(UsageError)
    },
  )
})

describe.skipIf(process.platform === 'win32')('the state folder (not on Windows, which has no modes)', () => {
  it('is closed to others, new or not', async () => {
    const fresh = await ensureStateFolder(join(root, 'a/b/state'))
    expect((await stat(fresh)).mode & 0o777).toBe(0o700)
    await mkdir(join(root, 'open'), { mode: 0o755 })
    expect((await stat(await ensureStateFolder(join(root, 'open')))).mode & 0o777).toBe(0o700)
  })

  it('says so when a file is in its place', async () => {
    const file = await put('state', 'x')
    await expect(ensureStateFolder(file)).rejects.toMatchObject({ code: 'ERR_STATE_DIR', exitCode: 2 })
    await expect(ensureStateFolder(file, '--data')).rejects.toMatchObject({
      remedies: [expect.stringMatching('Set --data')],
    })
  })

  it('is never a temporary folder: without a home it is the system’s, and said', async () => {
    const config = await resolved({ folders: { config: null, data: null } })
    expect(config.stateDir).toBe('/var/lib/voxmux')
    expect(config.notes.join()).toContain('no home')
  })
})
