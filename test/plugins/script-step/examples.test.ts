import { execFile, execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { toolVariables } from '../../helpers/loaded-tools/tool-variables.js'
import { secondOfSpeech } from '../../helpers/sound/second-of-speech.js'
import { CLI_PATH } from '../../helpers/voxmux-cli.js'
import { stepBench } from './step-bench.js'

const EXAMPLES = fileURLToPath(new URL('../../../plugins/script-step/examples', import.meta.url))
const bench = stepBench()

/** Why the test of an example is skipped here; undefined where its tool is installed. */
function missing(tool: string): string | undefined {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    process.stderr.write(`skipped: ${tool} is not installed\n`)
    return `${tool} is not installed`
  }
}

/** Runs an example where `voxmux` is a command, as it is after an installation. */
async function run(program: string, ...args: readonly string[]) {
  const bin = bench.folder.file('bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'voxmux'), `#!/bin/sh\nexec "${process.execPath}" "${CLI_PATH}" "$@"\n`)
  await chmod(join(bin, 'voxmux'), 0o755)
  const { cwd, env } = bench.options
  const PATH = `${bin}:/usr/bin:/bin`
  return promisify(execFile)(program, args, { cwd, env: { PATH, ...toolVariables(), ...env } }).catch(
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { code, stdout, stderr }
    },
  )
}

async function raw(...indices: readonly number[]): Promise<void> {
  await mkdir(bench.folder.file('raw'), { recursive: true })
  for (const index of indices) {
    await writeFile(bench.folder.file(`raw/take-${index}.wav`), secondOfSpeech(index))
  }
}

/** Runs a `run` of a workflow as GitHub's runner does where it says `shell: bash`. */
async function runnerStep(script: string) {
  const path = bench.folder.file('step-of-runner.sh')
  await writeFile(path, script.replaceAll(/^ {10}/gm, ''))
  return run(
    'env',
    `GITHUB_OUTPUT=${bench.folder.file('github-output')}`,
    'bash',
    '--noprofile',
    '--norc',
    '-eo',
    'pipefail',
    path,
  )
}

// Each example starts the command several times.
describe('the examples of the script step', { timeout: 240_000 }, () => {
  it.skipIf(missing('bash') !== undefined)('step.sh says what became of a file, by its status', async () => {
    await raw(1)
    const script = join(EXAMPLES, 'step.sh')
    const { stdout } = await run('bash', script, 'raw/take-1.wav', 'clean.wav')
    expect(stdout).toBe('finished: clean.wav, proven by clean.wav.voxmux.json\n')
    expect((await run('bash', script, 'raw/take-1.wav', 'clean.wav')).stdout).toBe('there already: clean.wav\n')
    const odd = bench.folder.file('a "b" \\n.wav')
    await rename(bench.folder.file('raw/take-1.wav'), odd)
    expect((await run('bash', script, odd, `${odd}.flac`)).stdout).toContain(`finished: ${odd}.flac,`)
    expect(await run('bash', script, 'none.wav', 'x.wav')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('failed:'),
    })
  })

  it.skipIf(missing('python3') !== undefined)(
    'step.py lists each output with the hash of its receipt',
    async ({ skip }) => {
      if (!process.env.VOXMUX_SOAK) skip('only in the soak')
      await raw(1, 2)
      const args = [join(EXAMPLES, 'step.py'), 'clean', 'raw/take-1.wav', 'raw/take-2.wav', 'none.wav'] as const
      const { stdout, stderr, code } = { code: 0, ...(await run('python3', ...args)) }
      const lines = stdout.trimEnd().split('\n')
      expect(lines).toEqual(
        [1, 2].map((n) => expect.stringMatching(new RegExp(`/clean/take-${n}\\.regen\\.wav \\w{64}$`))),
      )
      expect(stderr).toMatch(/none\.wav ERR_\w+ /)
      expect(code).toBe(2)
    },
  )

  it.skipIf(missing('make') !== undefined)(
    'Makefile makes what is missing or stale, and nothing twice',
    async ({ skip }) => {
      if (!process.env.VOXMUX_SOAK) skip('only in the soak')
      await raw(1, 2)
      const make = () => run('make', '-f', join(EXAMPLES, 'Makefile'), '-j2')
      const first = { code: 0, ...(await make()) }
      expect(first).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Error') })
      for (const n of [1, 2]) expect((await stat(bench.folder.file(`clean/take-${n}.wav`))).size).toBeGreaterThan(1000)
      expect((await make()).stdout).toContain('Nothing to be done')
      expect(bench.server.charges).toBe(2)
    },
  )

  it.skipIf(missing('jq') !== undefined)(
    'github-actions.yml runs as a runner runs it, and keeps both files',
    async () => {
      const workflow = await readFile(join(EXAMPLES, 'github-actions.yml'), 'utf8')
      await mkdir(bench.folder.file('recordings'))
      await writeFile(bench.folder.file('recordings/take.wav'), secondOfSpeech(1))
      const install = /- run: npm install --global voxmux && (.+)/.exec(workflow)?.[1] ?? ''
      expect(await runnerStep(install)).not.toHaveProperty('code')
      const step = /- name: regenerate\n.*?run: \|\n(.*?)(?=\n {6}- )/s.exec(workflow)?.[1] ?? ''
      expect(await runnerStep(step)).not.toHaveProperty('code')
      const outputs = (await readFile(bench.folder.file('github-output'), 'utf8')).trimEnd().split('\n')
      expect(outputs).toEqual([
        `output=${bench.folder.file('clean/take.regen.wav')}`,
        `receipt=${bench.folder.file('clean/take.regen.wav.voxmux.json')}`,
      ])
      for (const line of outputs) expect((await stat(line.slice(line.indexOf('=') + 1))).size).toBeGreaterThan(100)
      expect(workflow.match(/steps\.voice\.outputs\.\w+/g)).toEqual([
        'steps.voice.outputs.output',
        'steps.voice.outputs.receipt',
      ])
      // A file that cannot be done ends the job there: nothing is kept of it.
      await writeFile(bench.folder.file('recordings/take.wav'), 'no sound')
      expect(await runnerStep(step)).toMatchObject({ code: 5 })
    },
  )

  it('Snakefile and github-actions.yml say the jobs that voxmux takes', async () => {
    const jobs = await Promise.all(
      ['Snakefile', 'github-actions.yml'].map(async (name) => {
        const text = (await readFile(join(EXAMPLES, name), 'utf8')).replaceAll('{{', '{').replaceAll('}}', '}')
        return JSON.parse(/echo '(\{.*\})' \| voxmux step -/.exec(text)?.[1] ?? 'null')
      }),
    )
    const { jobRequestSchema } = await import('../../../src/pipeline/queue/job-request.js')
    for (const job of jobs) expect(jobRequestSchema.safeParse(job)).toMatchObject({ success: true })
  })
})
