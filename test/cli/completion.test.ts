import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-table.js'
import { openLedger } from '../../src/ledger/index.js'
import { commandInProcess } from '../helpers/command-in-process.js'
import { CLI_PATH } from '../helpers/voxmux-cli.js'

const ZSH = '/usr/bin/zsh'
const HAS_ZSH = existsSync(ZSH)
const registers = 'zsh registers it, also if nothing has switched its completion on'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voxmux-completion-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const inProcess = (args: readonly string[]) =>
  commandInProcess(args, { cwd: folder, env: { VOXMUX_STATE_DIR: join(folder, 'state') } })

describe('completion', () => {
  let script: ReturnType<typeof inProcess> | undefined

  it.each([
    ['', COMMANDS.map(({ name }) => name)],
    ['clip.mov --channels ', ['auto', 'center', 'each', 'downmix']],
    ['run --channels = c', ['center']],
    ['run clip.mov -p pod', ['podcast']],
    ['timeline cut.otio --preset web', ['web-video']],
    ['watch --prog', ['--progress']],
    ['jobs ', ['list', 'show', 'retry', 'forget', 'export', 'import']],
    ['jobs list --status fai', ['failed']],
    ['portal keys', ['keys']],
  ])('bash offers after `voxmux %s`', async (typed, offered) => {
    script ??= inProcess(['completion', 'bash'])
    const { stdout } = await script
    const words = ['voxmux', ...typed.split(' ')].map((word) => `'${word}'`)
    const asked = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _voxmux; echo "\${COMPREPLY[*]}"`
    const shown = execFileSync('bash', ['-c', `${stdout}\n${asked}`], { encoding: 'utf8' })
    expect(shown.trim().split(' ').filter(Boolean)).toEqual(offered)
  })

  it('bash asks voxmux for the ids of jobs', async () => {
    const { jobs, close } = await openLedger(join(folder, 'state', 'ledger.sqlite'))
    const { job } = await jobs.enqueue({ key: 'a', group: 'run', input: '/in/a.mov' })
    await close()
    const { stdout } = await inProcess(['completion', 'bash'])
    const offered = (...words: string[]) =>
      `COMP_WORDS=(voxmux ${words.join(' ')}); COMP_CWORD=${words.length}; _voxmux; echo "\${COMPREPLY[*]}"`
    const script = `${stdout}\nvoxmux() { '${process.execPath}' '${CLI_PATH}' "$@"; }
      ${offered('jobs', 'retry', "''")}; ${offered('jobs', 'list', '--status', 'fai')}`
    const env = { PATH: '/usr/bin:/bin', VOXMUX_STATE_DIR: join(folder, 'state') }
    const shown = execFileSync('bash', ['--norc', '-c', script], { cwd: folder, env, encoding: 'utf8' })
    expect(shown.trim().split('\n')).toEqual([job.id, 'failed'])
    await inProcess(['jobs', 'forget', job.id])
  })

  it.skipIf(!HAS_ZSH)(HAS_ZSH ? registers : `${registers} (zsh is not installed)`, async () => {
    const { stdout } = await inProcess(['completion', 'zsh'])
    const run = (before: string) =>
      execFileSync(ZSH, ['-f', '-c', `${before}\n${stdout}\nprint -r -- $_comps[voxmux]`], {
        env: { PATH: '/usr/bin:/bin', HOME: folder },
        encoding: 'utf8',
      })
    expect(run('')).toContain('_voxmux')
    expect(run('autoload -U compinit && compinit -u')).toContain('_voxmux')
  })

  it.each(['fish', 'powershell'])('for %s has every command and the values', async (shell) => {
    const { stdout } = await inProcess(['completion', shell])
    for (const { name } of COMMANDS) expect(stdout).toContain(name)
    expect(stdout).toMatch(/auto.+center.+each.+downmix/)
    expect(stdout).toContain('jobs list --limit 50 --json')
  })
})
