import { describe, expect, it } from 'vitest'
import {
  holdVoice,
  VOICE_MOVES,
  type VoiceLedger,
  type VoiceStatus,
  type VoiceStep,
} from '../../../src/ledger/index.js'
import { KEEP_VOICES_MS } from '../../../src/ledger/voices/voice.js'
import fc from '../../helpers/properties.js'
import { eachWith, type Shared } from '../store-fixture.js'

async function claimed(voices: VoiceLedger, key: string) {
  const claim = await voices.claim(key)
  if (claim.outcome !== 'claimed') throw new Error('held')
  return claim
}

const PAID: readonly VoiceStep[] = [
  { status: 'registering' },
  { status: 'registered', fileId: 'f1' },
  { status: 'uploaded' },
  { status: 'starting', paidSec: 30 },
  { status: 'started' },
]

const step: fc.Arbitrary<VoiceStep> = fc.oneof(
  fc.constantFrom<VoiceStep>(
    { status: 'registering' },
    { status: 'uploaded' },
    { status: 'started' },
    { status: 'succeeded' },
  ),
  fc.uuid().map((fileId): VoiceStep => ({ status: 'registered', fileId })),
  fc.integer({ min: 1, max: 9000 }).map((paidSec): VoiceStep => ({ status: 'starting', paidSec })),
  fc.constantFrom(-1, -12, -7).map((errorCode): VoiceStep => ({ status: 'failed', errorCode })),
  fc.constant<VoiceStep>({ status: 'cached' }),
)

/** What every ledger of voices has to hold, whatever it is built on. */
export function describeVoiceLedger(name: string, make: () => Promise<Shared<VoiceLedger>>): void {
  describe(`${name}: voices`, () => {
    const fixture = eachWith(make)

    it('keeps what was sent and paid for, attempt by attempt', async () => {
      const voices = fixture.one
      const { lease, voice } = await claimed(voices, 'v')
      expect(voice).toMatchObject({ status: 'new', fileId: null, paidSec: 0, attempts: [] })
      for (const step of PAID) await voices.advance(lease, step)
      await voices.advance(lease, { status: 'failed', errorCode: -12 })
      await voices.advance(lease, { status: 'registering' })
      await voices.advance(lease, { status: 'registered', fileId: 'f2' })
      await voices.advance(lease, { status: 'starting', paidSec: 30 })
      expect(await voices.allByFileId('f2')).toMatchObject([
        {
          key: 'v',
          status: 'starting',
          paidSec: 30,
          errorCode: null,
        },
      ])
      await voices.advance(lease, { status: 'succeeded' })
      const ended = await voices.advance(lease, { status: 'cached' })
      expect(ended).toMatchObject({ status: 'cached', paidSec: 60 })
      expect(ended.attempts).toMatchObject([
        { fileId: 'f1', status: 'failed', errorCode: -12, paidSec: 30 },
        { fileId: 'f2', status: 'cached', errorCode: null, paidSec: 30 },
      ])
      for (const fileId of ['f1', 'f2']) expect(await voices.allByFileId(fileId)).toEqual([ended])
      expect(await voices.allByFileId('f3')).toEqual([])
    })

    it('counts nothing as paid that is not known to have started', async () => {
      const voices = fixture.one
      const { lease } = await claimed(voices, 'v')
      for (const step of PAID.slice(0, 4)) await voices.advance(lease, step)
      expect((await voices.allByFileId('f1'))[0]?.paidSec).toBe(0)
      await voices.advance(lease, { status: 'uploaded' })
      await voices.advance(lease, { status: 'starting', paidSec: 31 })
      expect((await voices.advance(lease, { status: 'started' })).paidSec).toBe(31)
    })

    it('has a second comer wait, who then finds the voice ready', async () => {
      const { one, other } = fixture
      const first = await holdVoice(one, 'v')
      let tell: (status: string) => void = () => {}
      const waiting = new Promise<string>((resolve) => {
        tell = resolve
      })
      const second = holdVoice(other, 'v', { pollMs: 5, onWait: ({ status }) => tell(status) })
      expect(await waiting).toBe('new')
      for (const step of PAID) await first.advance(step)
      await first.advance({ status: 'succeeded' })
      await first.advance({ status: 'cached' })
      await first.release()
      const held = await second
      expect(held.voice).toMatchObject({ status: 'cached', attempts: [{ fileId: 'f1' }] })
      await held.release()
    })

    it('ends the wait when the caller gives up', async () => {
      const { one, other } = fixture
      const first = await holdVoice(one, 'v')
      const giveUp = new AbortController()
      const second = holdVoice(other, 'v', { signal: giveUp.signal, onWait: () => giveUp.abort() })
      await expect(second).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' })
      await first.release()
    })

    it('lets nobody act on a voice whose lease is over', async () => {
      const { one, other } = fixture
      const { lease } = await claimed(one, 'v')
      await one.advance(lease, { status: 'registering' })
      fixture.advance(3_600_000)
      const taken = await claimed(other, 'v')
      expect(taken.voice.status).toBe('registering')
      await expect(one.advance(lease, { status: 'registered', fileId: 'f' })).rejects.toMatchObject({
        code: 'ERR_LEASE_LOST',
      })
      await expect(one.heartbeat(lease)).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
      await one.release(lease)
      expect(await one.claim('v')).toMatchObject({ outcome: 'held' })
      await other.release(taken.lease)
    })

    it('forgets voices that nobody used for long, a few at each claim, and none that is paid for and not fetched', async () => {
      const { one, other } = fixture
      const use = async (key: string, steps: readonly VoiceStep[]) => {
        const { lease } = await claimed(one, key)
        for (const step of steps) await one.advance(lease, step)
        await one.release(lease)
      }
      const cached = (fileId: string): VoiceStep[] => [
        ...PAID.map((step) => (step.status === 'registered' ? { ...step, fileId } : step)),
        { status: 'succeeded' },
        { status: 'cached' },
      ]
      await use('unused', cached('f-unused'))
      await use('failed', [{ status: 'registering' }, { status: 'failed', errorCode: -2 }])
      await use('under way', PAID)
      await use('used again', cached('f-used'))
      const held = await claimed(other, 'held')
      fixture.advance(KEEP_VOICES_MS - 1000)
      await other.heartbeat(held.lease)
      await use('used again', [])
      fixture.advance(2000)
      await use('new', [])
      await use('newer', [])
      expect(await one.allByFileId('f-unused')).toEqual([])
      expect(await one.allByFileId('f1')).toMatchObject([{ key: 'under way', status: 'started' }])
      expect(await one.allByFileId('f-used')).toMatchObject([{ key: 'used again', status: 'cached', paidSec: 30 }])
      expect(await one.claim('held')).toMatchObject({ outcome: 'held', voice: { status: 'new' } })
      for (const key of ['unused', 'failed']) {
        const { lease, voice } = await claimed(one, key)
        expect(voice).toMatchObject({ status: 'new', attempts: [] })
        await one.release(lease)
      }
      await other.release(held.lease)
    })

    it('never starts a file id that may have been started, whatever is tried in whatever order', async () => {
      const voices = fixture.one
      let n = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
          n += 1
          let { lease, voice: before } = await claimed(voices, `v${n}`)
          const started = new Set<string>()
          let status: VoiceStatus = 'new'
          let wouldPaySec = 0
          for (const next of steps) {
            const allowed = VOICE_MOVES[status].includes(next.status)
            if (!allowed) {
              await expect(voices.advance(lease, next)).rejects.toThrow(/cannot change/)
              await voices.release(lease)
              const again = await claimed(voices, `v${n}`)
              expect(again.voice).toEqual(before)
              lease = again.lease
              continue
            }
            const after = await voices.advance(lease, next)
            status = next.status
            expect(after.status).toBe(status)
            // A file id that was seen to run is never handed to a start again.
            if (status === 'starting') expect(started.has(after.fileId ?? '')).toBe(false)
            if (status === 'started' || status === 'succeeded') started.add(after.fileId ?? '')
            if (next.status === 'starting') wouldPaySec += next.paidSec
            expect(after.paidSec).toBeLessThanOrEqual(wouldPaySec)
            expect(after.paidSec).toBeGreaterThanOrEqual(before.paidSec)
            expect(after.attempts.length).toBeGreaterThanOrEqual(before.attempts.length)
            before = after
          }
          await voices.release(lease)
        }),
        { numRuns: 60 },
      )
    })
  })
}
