import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CommandContext } from '../../src/cli/command.js'
import { showPlans } from '../../src/cli/show/dry-run.js'
import type { FileEvent } from '../../src/pipeline/events.js'
import { receiptSchema } from '../../src/pipeline/output/receipt.js'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { FaultServer } from '../helpers/fault-server.js'
import { quieterVoice } from '../helpers/sound/quieter-voice.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { eventsOf } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let server: FaultServer
let workshop: Workshop

beforeEach(async () => {
  server = await FaultServer.start({ regenerate: quieterVoice })
  workshop = openWorkshop()
})
afterEach(async () => {
  workshop.remove()
  await server.close()
})

describe('--dry-run', () => {
  it.each([
    ['a film brought to a loudness', ['--preset', 'podcast']],
    ['a part of a film', ['--segment', '0.5-1.5']],
    ...(process.env.VOXMUX_SOAK ? [['a whole film', []] as [string, string[]]] : []),
  ])('names the very command with which %s is muxed, and writes nothing', async (_what, choice) => {
    const input = workshop.take('phone.mp4')
    const args = ['run', input, '--json', ...choice]
    const before = readdirSync(workshop.dir)
    const withService = { ...options(), env: { ...workshop.env, ...server.env } }
    const shown = await runCliInProcess([...args, '--dry-run'], withService)
    expect(shown.exitCode, shown.stderr).toBe(0)
    expect(readdirSync(workshop.dir)).toEqual(before)

    const done = await runCliInProcess(args, withService)
    expect(done.exitCode, done.stderr).toBe(0)
    const receiptPath = workshop.path('phone.regen.mp4.voxmux.json')
    expect(existsSync(receiptPath)).toBe(true)
    const { runs } = receiptSchema.parse(JSON.parse(readFileSync(receiptPath, 'utf8'))).ffmpeg
    const plan = eventsOf(shown).find(({ event }) => event === 'plan') as { ffmpeg: string[][] } | undefined
    expect(withoutWorkPaths(plan?.ffmpeg.at(-1))).toEqual(withoutWorkPaths(runs.at(-1)))

    const again = await runCliInProcess([...args, '--dry-run'], withService)
    expect(again.stderr).toContain('phone.mp4: already done')
    expect(eventsOf(again)[0]).toMatchObject({ status: 'skipped', receipt: receiptPath })
  })
})

it('--dry-run is short for people, and names the commands with --verbose', async () => {
  const args = ['run', workshop.take('phone.mp4'), '--dry-run', '--segment', '0.5-99']
  const brief = await runCliInProcess(args, options())
  expect(brief.stdout).toMatch(/to pay for {2}nothing: the embedded service[\s\S]*\n {2}kept +1 video\n/)
  expect(brief.stdout).toMatch(/\n {2}part {8}0\.5–\S+ s \(clipped at the end of the file\)\n/)
  expect(brief.stdout).not.toMatch(/ffmpeg|rewritten|moov/)
  const long = await runCliInProcess([...args, '--verbose'], options())
  expect(long.stdout).toMatch(/rewritten +moov[\s\S]*\n {2}ffmpeg +/)
})

it('--dry-run that is interrupted leaves its files pending, as the run does', async () => {
  const files: FileEvent[] = []
  const output = { note: () => {}, event: (event: FileEvent) => files.push(event), result: () => {} }
  const context = { cwd: workshop.dir, env: {}, signal: AbortSignal.abort(), output } as unknown as CommandContext
  expect(await showPlans([requestFor(workshop.take('phone.mp4'))], {}, context)).toBe(130)
  expect(files).toMatchObject([{ status: 'pending', error: { code: 'ERR_INTERRUPTED' } }])
})

it('--dry-run of a preview fits what the run does with a clip that is there', async () => {
  const input = workshop.take('speech.wav')
  const preview = (seconds: string, ...more: string[]) =>
    runCliInProcess(['run', input, '--preview', seconds, ...more], options())
  expect((await preview('1s')).exitCode).toBe(0)
  expect((await preview('2s', '--dry-run')).exitCode).toBe(0)
  const other = workshop.take('speech.flac')
  const refused = ['run', other, '--preview', '1s', '-o', workshop.path('speech.preview.wav')]
  for (const more of [['--dry-run'], []])
    expect((await runCliInProcess([...refused, ...more], options())).exitCode).toBe(2)
})

it('--dry-run refuses an output below a file, as the run does', async () => {
  const args = ['run', workshop.take('phone.mp4'), '-o', workshop.path('phone.mp4/out.mp4'), '--json']
  const [dry, run] = [await runCliInProcess([...args, '--dry-run'], options()), await runCliInProcess(args, options())]
  const codeOf = (one: typeof dry) => (eventsOf(one).at(-1) as { error?: { code: string } }).error?.code
  expect([dry.exitCode, codeOf(dry)]).toEqual([run.exitCode, codeOf(run)])
  expect(dry.exitCode).toBe(2)
})

it('--dry-run downloads nothing, so it asks for the file in place of a web address', async () => {
  const args = ['run', 'https://media.example/talk.wav?sig=hush', '--dry-run']
  const refused = await runCliInProcess(args, options())
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('A web address cannot be checked before it is downloaded.')
})

/** The part file has another name at every run, and its side files are numbered as they are made. */
function withoutWorkPaths(args: readonly string[] = []): readonly string[] {
  return args.map((argument) => argument.replace(/^file:.*part(\.donor)?\d*$/, 'file:part$1'))
}

function options() {
  return { cwd: workshop.dir, env: workshop.env }
}
