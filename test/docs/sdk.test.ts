import { type ChildProcess, spawn } from 'node:child_process'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, onTestFinished } from 'vitest'
import { test } from '../client/harness.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Writes one of the page's programs, by the name in its first line, as the compiler makes it of what stands there. */
async function writeProgram(name: string, dir: string): Promise<string> {
  const page = await readFile(join(root, 'docs/sdk.md'), 'utf8')
  const blocks = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
  const block = blocks.find((text) => text.startsWith(`// ${name}`))
  if (!block) throw new Error(`docs/sdk.md has no program ${name}`)
  const path = join(dir, name.replace(/\.ts$/, '.mjs'))
  const { outputText } = ts.transpileModule(block, { compilerOptions: { target: ts.ScriptTarget.ES2022 } })
  await writeFile(path, outputText)
  return path
}

/** Lets the programs of a folder import voxmux as if it were installed there. */
async function installed(dir: string): Promise<void> {
  await mkdir(join(dir, 'node_modules'), { recursive: true })
  await symlink(root, join(dir, 'node_modules/voxmux')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

/** Starts one of the page's programs. */
async function program(name: string, dir: string, args: string[], env: Record<string, string>): Promise<ChildProcess> {
  const path = await writeProgram(name, dir)
  await installed(dir)
  const options = { env: { PATH: process.env.PATH, ...env }, cwd: root }
  const child = spawn(process.execPath, [path, ...args], { ...options, stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const out = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => (out.stdout += chunk))
  child.stderr?.on('data', (chunk: Buffer) => (out.stderr += chunk))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...out })))
}

describe('docs/sdk.md', () => {
  test('regenerates a file as the page says', async ({ server, file, dir }) => {
    const { path, content } = await file(100_000)
    const { code, stdout, stderr } = await ended(await program('regenerate.ts', dir, [path], server.env))
    expect(stderr).toContain('Succeeded 100 %')
    expect(stdout).toBe(`${path}.regen.flac: 100000 bytes\n`)
    expect(content.equals(await readFile(`${path}.regen.flac`))).toBe(true)
    expect(code).toBe(0)
  })

  test('ends with a sentence and the exit code of the fault', async ({ server, file, dir }) => {
    const { path } = await file(10)
    const env = { ...server.env, VOXMUX_CLIENT_SECRET: 'not-the-secret' }
    const { code, stderr } = await ended(await program('regenerate.ts', dir, [path], env))
    expect(code).toBe(6)
    expect(stderr).toMatch(/^ERR_AUTH_FAILED: /)
    expect(stderr).not.toContain('not-the-secret')
  })

  test('receives webhooks as the page says', async ({ dir }) => {
    const child = await program('receive.ts', dir, [], { PORT: '0', WEBHOOK_SECRET: 'shh' })
    const end = ended(child)
    const url = await new Promise<string>((resolve) => {
      child.stdout?.once('data', (chunk: Buffer) => resolve(String(chunk).replace('listening at ', '').trim()))
    })
    const message = { fileId: 'f', status: 'Processed', progress: 100, errorCode: 0 }
    const body = JSON.stringify({ userId: 'u', type: 'status-updated', message })
    const response = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer shh' }, body })
    expect(response.status).toBe(204)
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 0, stdout: expect.stringContaining('f Processed 100 %') })
  })

  /** What a program needs of this machine, with a state folder of its own. Without a service it uses the embedded one. */
  const machine = (dir: string) => ({ VOXMUX_STATE_DIR: join(dir, 'state'), HOME: dir })

  test('runs a job, with an extension, as the page says', async ({ dir }) => {
    const input = join(dir, 'take.wav')
    await copyFile(join(root, 'fixtures/speech.wav'), input)
    await writeProgram('extension.ts', dir)
    const config = join(dir, 'config.json')
    await writeFile(config, JSON.stringify({ extensions: ['./extension.mjs'] }))
    const env = { ...machine(dir), VOXMUX_CONFIG: config }
    const { code, stdout, stderr } = await ended(await program('jobs.ts', dir, [input, `${dir}/finished/`], env))
    expect(stderr).toContain(`listed ${dir}/finished/take.regen.wav`)
    expect(stdout).toMatch(/finished\/take\.regen\.wav [\da-f]{64}\n$/)
    expect(code).toBe(0)
    const missing = await ended(await program('jobs.ts', dir, [join(dir, 'none.wav')], env))
    expect(missing.code).toBe(2)
    expect(missing.stderr).toContain('"code":"ERR_INPUT_MISSING"')
  })

  test('queues a job and does it as the page says', async ({ server, dir }) => {
    const input = join(dir, 'take.wav')
    await copyFile(join(root, 'fixtures/speech.wav'), input)
    const { code, stdout, stderr } = await ended(
      await program('queue.ts', dir, [input, `${dir}/finished/`], { ...machine(dir), ...server.env }),
    )
    expect(stderr).toBe('')
    expect(stdout).toBe(`queued ${input} (queued)\ndone ${dir}/finished/take.regen.wav\n`)
    expect(code).toBe(0)
    // It is done, so no worker has an event of it.
    const again = await ended(
      await program('queue.ts', dir, [input, `${dir}/finished/`], { ...machine(dir), ...server.env }),
    )
    expect(again).toMatchObject({ code: 0, stdout: `known ${input} (done)\n`, stderr: '' })
    const lost = await ended(
      await program('queue.ts', dir, [`${dir}/lost.wav`, `${dir}/finished/`], { ...machine(dir), ...server.env }),
    )
    expect(lost.stderr).toContain('lost.wav')
  })

  test('tells errors apart as the page says', async ({ dir }) => {
    const { stdout, stderr } = await ended(await program('errors.ts', dir, [], {}))
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^try again later\n[\s\S]*-8 MultiTrackAudioNotSupported/)
  })
})
