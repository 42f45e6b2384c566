import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { CLI_PATH } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let shop: Workshop
beforeEach(() => {
  shop = openWorkshop()
})
afterEach(() => shop.remove())

const options = () => ({ cwd: shop.dir, env: { PATH: '/usr/bin:/bin', ...shop.env } })

it('reads what ffmpeg writes, and writes what ffmpeg reads, and leaves nothing behind', () => {
  shop.take('speech.wav')
  const samples = (from: string) => `ffmpeg -v error ${from} -f s16le - | md5sum`
  const voxmux = `${process.execPath} ${CLI_PATH} run - -o - --format wav --mix 0`
  const line = `ffmpeg -v error -i speech.wav -f wav - | ${voxmux} | ${samples('-i -')}`
  const { stdout, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', line], { ...options(), encoding: 'utf8' })
  expect(stderr).toContain('✔ stdin → stdout')
  expect(stdout).toBe(execFileSync('bash', ['-c', samples('-i speech.wav')], { ...options(), encoding: 'utf8' }))
  expect([readdirSync(shop.dir), readdirSync(join(shop.env.VOXMUX_STATE_DIR ?? '', 'pipes'))]).toEqual([
    ['speech.wav'],
    [],
  ])
})

it('writes the output type to stdout', () => {
  shop.take('speech.wav')
  const line = `${process.execPath} ${CLI_PATH} run speech.wav -o - --output-type flac --mix 0 | head -c 4`
  expect(spawnSync('bash', ['-c', line], { ...options(), encoding: 'utf8' }).stdout).toBe('fLaC')
})

it('says that the reader of stdout ended too soon', () => {
  shop.take('speech.wav')
  const line = `${process.execPath} ${CLI_PATH} run speech.wav -o - --format wav --mix 0 | head -c 10`
  const { status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', line], { ...options(), encoding: 'utf8' })
  expect(stderr).toContain('The program that reads stdout ended before it had the whole output.')
  expect(status).toBe(2)
})

it.runIf(existsSync('/dev/full'))('says that the disk behind stdout is full', () => {
  shop.take('speech.wav')
  const line = `${process.execPath} ${CLI_PATH} run speech.wav -o - --mix 0 > /dev/full`
  const { status, stderr } = spawnSync('bash', ['-c', line], { ...options(), encoding: 'utf8' })
  expect(stderr).toContain('The output on stdout is incomplete, because its disk has no space left.\n')
  expect([status, stderr.includes('TMPDIR')]).toEqual([4, false])
})

it('names stdin in a plan', () => {
  const line = `${process.execPath} ${CLI_PATH} run - -o out.wav --dry-run < ${shop.take('speech.wav')}`
  const { stdout } = spawnSync('bash', ['-c', line], { ...options(), encoding: 'utf8' })
  expect(stdout).toContain(`stdin → ${shop.path('out.wav')}\n`)
})

it.each([
  [['-'], 'has no place for its output'],
  [['-', 'speech.wav', '-o', '-'], 'A pipe takes one file'],
  [['speech.wav', '-o', '-', '--json'], '--json and -o - would both write to stdout.'],
  [['speech.wav', '--format', 'wav'], '--format is for `-o -` alone.'],
])('%j is refused', async (args, message) => {
  shop.take('speech.wav')
  const { exitCode, stderr } = await runCliInProcess(['run', ...args], { cwd: shop.dir, env: shop.env })
  expect([exitCode, existsSync(shop.path('stdout.wav'))]).toEqual([2, false])
  expect(stderr).toContain(message)
})

it('asks in a terminal which track and which channels, and refuses with --no-input', () => {
  const inTerminal = (args: string, answers: string) => {
    const command = `${process.execPath} ${CLI_PATH} run ${args} --dry-run`
    return spawnSync('script', ['-qec', command, '/dev/null'], { ...options(), input: answers, encoding: 'utf8' })
  }
  for (const name of ['two-tracks.mkv', 'surround.wav']) shop.take(name)
  const both = inTerminal('two-tracks.mkv surround.wav', '2\n1\n')
  expect(both.stdout).toMatch(
    /which audio track\?\s+1 {2}0: English stereo "Dialogue" \(default\), -\d+\.\d LUFS\s+2 {2}1: French/,
  )
  expect(both.stdout).toMatch(/two-tracks\.regen\.mkv[\s\S]+surround\.regen\.wav/)
  expect(both.status).toBe(0)
  expect(inTerminal('surround.wav --no-input', '').status).toBe(5)
})
