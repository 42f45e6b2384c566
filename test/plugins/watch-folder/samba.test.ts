import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { receiptSchema } from '../../../src/pipeline/output/receipt.js'
import { fixture } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { NO_SAMBA, SambaServer } from '../../helpers/system/samba-server.js'
import { until } from '../../helpers/until.js'
import { sha256Of, watchBench } from './watch-bench.js'

const PIECES = 4
/** Longer than the settle time of the bench, so that what is taken too early is taken. */
const PAUSE_MS = 800
/** In a process namespace of its own the daemon sees no server that writes, as on another machine than the share's. */
const ELSEWHERE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'] as const
const NO_NAMESPACE =
  spawnSync(ELSEWHERE[0], [...ELSEWHERE.slice(1), 'true']).status === 0 ? null : 'no process namespace'

const inSoak = it.runIf(process.env.VOXMUX_SOAK)
const FURTHER = [
  ['searched', ['--poll'], []],
  ['of this machine, with events', [], []],
  ['of another machine, searched', ['--poll'], ELSEWHERE],
] as const

describe.skipIf(NO_SAMBA)(`a share of a real Samba server${NO_SAMBA ? ` (skipped: ${NO_SAMBA})` : ''}`, () => {
  const bench = watchBench()
  let samba: SambaServer
  beforeEach(async () => {
    samba = await SambaServer.start(bench.workshop.path('in'))
  })
  afterEach(() => samba.close())

  const isPublished = (name: string) => existsSync(bench.file(`out/${name}.voxmux.json`))
  const inputOf = (name: string) =>
    receiptSchema.parse(JSON.parse(readFileSync(bench.file(`out/${name}.voxmux.json`), 'utf8'))).input

  /** Each piece waits for longer than it takes to settle, and then finds nothing more registered than before. */
  const takenEarly = () => {
    const before = bench.server.calls.registerFile
    return async () => {
      await sleep(PAUSE_MS)
      expect(bench.server.calls.registerFile).toBe(before)
    }
  }

  describe.each([['with events', [], ELSEWHERE], ...(process.env.VOXMUX_SOAK ? FURTHER : [])] as const)(
    '%s',
    (_how, flags, through) => {
      const skipped = through.length > 0 ? NO_NAMESPACE : null

      it.skipIf(skipped)(`takes no file before its last byte${skipped ? ` (skipped: ${skipped})` : ''}`, async () => {
        // As patient as a share asks for: a machine that stumbles between two pieces proves nothing.
        const daemon = bench.watchThrough(through, '--patience', '60', ...flags)
        await daemon.until(/"event":"watching"/)
        await samba.copyGrowing(readFileSync(fixture('timecode.mov')), 'growing.mov', PIECES, takenEarly())
        await until(() => isPublished('growing.mov'))
        const isUntaken = takenEarly()
        await samba.copyReserved(fixture('phone.mp4'), 'reserved.mp4', PIECES, async () => {
          const { size, blocks } = statSync(bench.file('reserved.mp4'))
          expect(size).toBe(statSync(fixture('phone.mp4')).size)
          expect(512 * blocks).toBeGreaterThanOrEqual(size)
          await isUntaken()
        })
        await until(() => isPublished('reserved.mp4'))
        expect(inputOf('growing.mov').sha256).toBe(sha256Of(fixture('timecode.mov')))
        expect(inputOf('reserved.mp4').sha256).toBe(sha256Of(fixture('phone.mp4')))
        expect(bench.names('failed')).toEqual([])
        expect(bench.server.charges).toBe(2)
      })
    },
  )

  inSoak(
    'takes a large file, one that is renamed when it is whole, and a newer version, each once (only in the soak)',
    async () => {
      const daemon = bench.watch('--poll')
      await daemon.until(/"event":"watching"/)
      const large = bench.workshop.path('large.mov')
      const picture = [
        '-f',
        'lavfi',
        '-i',
        'testsrc2=size=1280x720:rate=25:duration=2',
        '-c:v',
        'rawvideo',
        '-pix_fmt',
        'uyvy422',
      ]
      await ffmpeg('-i', fixture('speech.wav'), ...picture, '-shortest', large)
      expect(statSync(large).size).toBeGreaterThan(60_000_000)
      await samba.client(`put "${large}" large.mov`)
      await samba.client(`put "${fixture('speech.wav')}" clip.wav.part; rename clip.wav.part clip.wav`)
      await until(() => isPublished('large.mov') && isPublished('clip.wav'))
      expect(inputOf('large.mov').sha256).toBe(sha256Of(large))
      const newer = bench.workshop.path('newer.wav')
      await ffmpeg('-i', fixture('speech.wav'), '-af', 'volume=0.5', newer)
      await samba.client(`put "${newer}" clip.wav`)
      await until(() => inputOf('clip.wav').sha256 === sha256Of(newer))
      await samba.client('rename clip.wav other.wav')
      await daemon.until(/known already/)
      expect(bench.names('out')).toEqual(['clip.wav', 'clip.wav.voxmux.json', 'large.mov', 'large.mov.voxmux.json'])
      expect(bench.names('failed')).toEqual([])
      expect(bench.server.charges).toBe(3)
    },
  )
})
