import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSigningCertificate } from '../../src/credentials/signing-certificate.js'
import { openSigningKey } from '../../src/credentials/signing-key.js'
import { type TestFolder, testFolder } from '../helpers/media-factory.js'
import { makeAuthority, type TestAuthority, type TestSigner } from '../helpers/signing-authority.js'

const MODULE = '/usr/lib/softhsm/libsofthsm2.so'
const ENGINE = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/engines-3/pkcs11.so`
const missing = [MODULE, '/usr/bin/pkcs11-tool', ENGINE].filter((path) => !existsSync(path))
if (missing.length > 0) process.stderr.write(`Skipped: a key in a PKCS#11 token: ${missing.join(', ')} not installed\n`)

describe.skipIf(missing.length > 0)('a key in a PKCS#11 token', () => {
  const page = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8')
  const variables = ['SOFTHSM2_CONF', 'TOKEN_MODULE', 'TOKEN_PIN'] as const
  const before = variables.map((name) => [name, process.env[name]] as const)
  let folder: TestFolder
  let authority: TestAuthority
  let signer: TestSigner

  beforeAll(async () => {
    folder = await testFolder()
    authority = makeAuthority(folder.path)
    mkdirSync(folder.file('tokens'))
    writeFileSync(folder.file('softhsm.conf'), `directories.tokendir = ${folder.file('tokens')}\n`)
    Object.assign(process.env, {
      ...{ SOFTHSM2_CONF: folder.file('softhsm.conf'), TOKEN_MODULE: MODULE, TOKEN_PIN: '5678' },
    })
    run('softhsm2-util', '--init-token', '--free', '--label', 'voxmux', '--so-pin', '1234', '--pin', '5678')
    signer = authority.sign('editor')
    store(signer, '01')
    writeFileSync(folder.file('token.pin'), '5678')
  })
  afterAll(async () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    await folder.remove()
  })

  function run(program: string, ...args: readonly string[]) {
    execFileSync(program, args, { stdio: 'ignore' })
  }

  function store({ key }: TestSigner, id: string): void {
    run('softhsm2-util', '--import', key, '--token', 'voxmux', '--label', `key ${id}`, '--id', id, '--pin', '5678')
  }

  /** Signs with a command. @throws unless the certificate accepts the signature */
  async function sign(keyCommand: readonly string[], { cert } = signer): Promise<Buffer> {
    const key = await openSigningKey({ cert, keyCommand: [...keyCommand] }, await readSigningCertificate(cert))
    return key(Buffer.from('a claim'))
  }

  it('signs with the recipe of the page', async () => {
    const [, json = ''] = /```json\n(\{[^`]*keyCommand[^`]*)```/.exec(page) ?? []
    const { keyCommand } = JSON.parse(json).credentials
    expect(await sign(keyCommand)).toHaveLength(64)
    process.env.TOKEN_PIN = '0000'
    await expect(sign(keyCommand)).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_KEY' })
    process.env.TOKEN_PIN = '5678'
  })

  it('signs with the recipe of the page for RSA', async () => {
    const rsa = authority.sign('rsa', { key: 'RSA rsa_keygen_bits:2048' })
    store(rsa, '02')
    const [, command = ''] = /`(pkcs11-tool [^`]*PSS[^`]*)`/.exec(page) ?? []
    expect(await sign(['sh', '-c', command.replace('--id 01', '--id 02')], rsa)).toHaveLength(256)
  })

  it('signs with the recipe of the page for the engine of OpenSSL', async () => {
    const [, command = ''] = /`(openssl dgst [^`]*-engine pkcs11[^`]*)`/.exec(page) ?? []
    const own = command.replace('/etc/voxmux/token.pin', folder.file('token.pin'))
    expect(await sign(['sh', '-c', own])).toHaveLength(64)
  })
})
