import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { FileErrorCode } from '../../../src/contract/index.js'
import { aClaim, DAY_MS, eachWithTwoNodes, type OpenTwoNodes, takenFile } from './store-fixture.js'

const start = { kind: 'start', options: { webhook: true, webhookSecret: '', outputType: 'wav' } } as const

/** What every store keeps of files: a life that goes forward, written by whoever has the file in hand. */
export function filesContract(open: OpenTwoNodes): void {
  const nodes = eachWithTwoNodes(open)

  it('registers a file once, and shows it to its user alone', async () => {
    const { one, other } = nodes
    const [id, userId] = [randomUUID(), (await one.accounts.ensure('local')).id]
    const asked = { userId, clientFileId: 'takes/ä\0 "b".final.wav', sourceUrl: 'https://a.example/b', startSec: 0.25 }
    const file = await one.files.register(id, asked)
    expect(file).toMatchObject({ id, userId, fileName: 'ä\0 "b".final', startSec: 0.25, endSec: null })
    expect(file).toMatchObject({ state: 'registered', errorCode: 0, progress: 0, claim: null, endedMs: null })
    nodes.advance(5)
    expect(await other.files.register(id, asked)).toEqual(file)
    expect(await other.files.ofUser(userId, [randomUUID(), id, `${id}\0`, ''])).toEqual([
      undefined,
      file,
      undefined,
      undefined,
    ])
    expect(await other.files.ofUser(randomUUID(), [id])).toEqual([undefined])
    expect(await other.files.known([id, randomUUID(), 'lost+found'])).toEqual(new Set([id]))
    expect(await other.files.byId(randomUUID())).toBeUndefined()
  })

  it('starts a file once, however many ask at once', async () => {
    const { one, other } = nodes
    const { id } = await one.files.register(randomUUID(), { userId: 'u', clientFileId: 'a' })
    const starts = await Promise.all([one, other, one, other].map(({ files }) => files.change(id, start)))
    expect(starts.filter(({ changed }) => changed).length).toBe(1)
    expect(await other.files.byId(id)).toMatchObject({
      ...{ state: 'pending', webhook: true, webhookSecret: '', outputType: 'wav', isQueued: false },
    })
    expect(await one.files.unqueued()).toEqual([id])
    await other.files.markQueued(id)
    expect([await one.files.unqueued(), (await one.files.byId(id))?.isQueued]).toEqual([[], true])
    expect((await one.files.change(randomUUID(), start)).file).toBeUndefined()
  })

  it('goes forward only, in the hands of one worker', async () => {
    const { one, other } = nodes
    const { id, claim } = await takenFile(one)
    const begin = { kind: 'begin', claim } as const
    const progress = (percent: number) => ({ kind: 'progress', claim, percent }) as const
    const changed = async (change: Parameters<typeof one.files.change>[1]) =>
      (await other.files.change(id, change)).changed
    expect(await changed(progress(5))).toBe(false)
    expect([await changed(begin), await changed(begin)]).toEqual([true, false])
    expect([await changed(progress(30)), await changed(progress(30)), await changed(progress(20))]).toEqual([
      ...[true, false, false],
    ])
    expect(await changed({ ...progress(90), claim: claim + 1 })).toBe(false)
    expect(await changed({ kind: 'tell', claim: claim + 1 })).toBe(false)
    expect(await changed({ kind: 'succeed', claim, outputExtension: 'wav' })).toBe(true)
    expect(await changed({ kind: 'succeed', claim, outputExtension: 'mp3' })).toBe(false)
    expect(await changed({ kind: 'fail', claim, errorCode: -1 })).toBe(false)
    expect(await changed(start)).toBe(false)
    expect(await one.files.byId(id)).toMatchObject({ state: 'succeeded', progress: 100, outputExtension: 'wav', claim })
  })

  it('is the later worker’s: the earlier one writes nothing any more, and was a crash', async () => {
    const { one, other } = nodes
    const early = await takenFile(one)
    expect(await other.files.findForRetry(early.id)).toMatchObject({ crashes: 1, claim: null })
    const late = { id: early.id, claim: aClaim() }
    expect(await other.files.claim(late)).toBe(true)
    expect((await one.files.change(early.id, { kind: 'begin', claim: early.claim })).file?.claim).toBe(late.claim)
    expect(await one.files.charge(early, 10)).toBe('lost')
    expect(await one.files.countFault(early)).toBeUndefined()
    await one.files.release(early)
    expect((await other.files.byId(late.id))?.claim).toBe(late.claim)
    await other.files.release(late)
    expect(await one.files.findForRetry(late.id)).toMatchObject({ crashes: 1, claim: null, state: 'pending' })
    expect(await one.files.findForRetry(randomUUID())).toBeUndefined()
  })

  it('counts a fault of the service once a claim', async () => {
    const { one, other } = nodes
    const taken = await takenFile(one)
    expect([await one.files.countFault(taken), await other.files.countFault(taken)]).toEqual([1, 1])
    const again = { id: taken.id, claim: aClaim() }
    await other.files.claim(again)
    expect(await other.files.countFault(again)).toBe(2)
  })

  it('charges a file once, gives the credits of a failed one back, and never more than there is', async () => {
    const { one, other } = nodes
    const taken = await takenFile(one)
    await one.accounts.setCredits(taken.userId, 10.5)
    const credits = async () => (await other.accounts.byId(taken.userId))?.creditsSec
    const outcomes = await Promise.all([one, other, one].map(({ files }) => files.charge(taken, 7250)))
    expect([outcomes, await credits()]).toEqual([['charged', 'charged', 'charged'], 3.25])
    const second = await takenFile(other)
    expect([await other.files.charge(second, 4000), await credits()]).toEqual(['short', 3.25])
    await one.files.change(taken.id, { kind: 'fail', claim: taken.claim, errorCode: -12 })
    await other.files.change(taken.id, { kind: 'fail', claim: taken.claim, errorCode: -12 })
    expect([await credits(), await one.files.charge(taken, 7250)]).toEqual([10.5, 'lost'])
    expect(await other.files.charge(second, 4000)).toBe('charged')
    const silent = await takenFile(other)
    expect([await other.files.charge(silent, 0), await credits()]).toEqual(['charged', 6.5])
    await one.accounts.setCredits(taken.userId, null)
    const third = await takenFile(other)
    expect([await other.files.charge(third, 1e12), await credits()]).toEqual(['charged', null])
    // Charged without credits, it gives none back.
    await one.accounts.setCredits(taken.userId, 20)
    await one.files.change(third.id, { kind: 'fail', claim: third.claim, errorCode: -12 })
    expect(await credits()).toBe(20)
  })

  it('counts credits in whole milliseconds: what is just enough for three is enough for three', async () => {
    const { one } = nodes
    const { id: userId } = await one.accounts.ensure('local')
    await one.accounts.setCredits(userId, 6.3)
    const outcomes: string[] = []
    for (let file = 0; file < 4; file += 1)
      outcomes.push(await one.files.charge(await takenFile(one, { userId }), 2100))
    expect(outcomes).toEqual(['charged', 'charged', 'charged', 'short'])
    expect((await one.accounts.byId(userId))?.creditsSec).toBe(0)
    for (const wrong of [-1, 1e300, Number.NaN])
      await expect(one.accounts.setCredits(userId, wrong)).rejects.toMatchObject({ code: 'ERR_USAGE' })
  })

  it.each([
    [-1, true],
    [-12, true],
    [-2, false],
    [-10, true],
    [-15, false],
  ] as [FileErrorCode, boolean][])('may be started again after %i: %s', async (errorCode, may) => {
    const { one, other } = nodes
    const { id, claim } = await takenFile(one)
    await one.files.change(id, { kind: 'fail', claim, errorCode })
    expect(await other.files.claim({ id, claim: aClaim() })).toBe(false)
    expect((await other.files.change(id, start)).changed).toBe(may)
    if (!may) return
    expect(await one.files.byId(id)).toMatchObject({ state: 'pending', errorCode: 0, endedMs: null, claim: null })
    await one.files.claim({ id, claim: claim + 1 })
    await one.files.change(id, { kind: 'fail', claim: claim + 1, errorCode })
    expect((await one.files.change(id, { kind: 'input-deleted' })).changed).toBe(true)
    expect((await other.files.change(id, start)).changed).toBe(false)
  })

  it('grows old from its end: input, output, record; and unused from the start', async () => {
    const { one, other } = nodes
    const taken = await takenFile(one)
    const unused = await one.files.register(randomUUID(), { userId: 'u', clientFileId: 'b' })
    const old = async (what: 'input' | 'output' | 'unused') =>
      (await other.files.expired(what, DAY_MS)).map(({ id }) => id)
    nodes.advance(DAY_MS + 1)
    expect([await old('input'), await old('output'), await old('unused')]).toEqual([[], [], [unused.id]])
    expect((await other.files.change(taken.id, { kind: 'output-deleted' })).changed).toBe(false)
    await one.files.change(taken.id, { kind: 'succeed', claim: taken.claim, outputExtension: 'wav' })
    expect(await old('input')).toEqual([])
    nodes.advance(DAY_MS + 1)
    expect([await old('input'), await old('output')]).toEqual([[taken.id], [taken.id]])

    const input = await Promise.all([one, other].map(({ files }) => files.change(taken.id, { kind: 'input-deleted' })))
    expect(input.map(({ changed }) => changed).sort()).toEqual([false, true])
    expect([await old('input'), await old('output')]).toEqual([[], [taken.id]])
    await one.files.change(taken.id, { kind: 'output-deleted' })
    expect(await old('output')).toEqual([])

    expect([await one.files.forgetUnused(unused.id), await other.files.forgetUnused(unused.id)]).toEqual([true, false])
    expect(await one.files.forgetUnused(taken.id)).toBe(false)
    await one.files.forgetDeleted(DAY_MS)
    expect(await other.files.known([taken.id, unused.id])).toEqual(new Set([taken.id]))
    nodes.advance(DAY_MS + 1)
    await one.files.forgetDeleted(DAY_MS)
    expect(await other.files.byId(taken.id)).toBeUndefined()
  })
}
