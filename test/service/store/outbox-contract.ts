import { expect, it } from 'vitest'
import type { OutgoingEvent } from '../../../src/service/webhooks/outbox.js'
import { DAY_MS, eachWithTwoNodes, type OpenTwoNodes, takenFile } from './store-fixture.js'

const target = { url: 'https://a.example/hook', method: 'POST', secretPosition: 'header', secret: 's' } as const

function entryOf({ fileId, body, attempt }: OutgoingEvent, outcome: 'delivered' | 'failed' | 'given-up') {
  const { type, message } = body
  return { fileId, type, status: message.status, attempt, method: 'POST', url: target.url, outcome, detail: 'ä "so"' }
}

/** What every store keeps of what is to be told: in order, by one node at a time, until it is over. */
export function outboxContract(open: OpenTwoNodes): void {
  const nodes = eachWithTwoNodes(open)

  /** A file of which three things are to be told. */
  async function toldFile(options: { webhook?: boolean; settings?: boolean } = {}) {
    const { one } = nodes
    const { id: userId } = await one.accounts.ensure('local')
    await one.targets.set(userId, options.settings === false ? null : target)
    const taken = await takenFile(one, { webhook: options.webhook ?? true, userId })
    const { claim } = taken
    await one.files.change(taken.id, { kind: 'begin', claim }, [{ type: 'status-updated', status: 'In Progress' }])
    await one.files.change(taken.id, { kind: 'fail', claim, errorCode: -2 }, [
      { type: 'status-updated', status: "Didn't Pass Validation" },
      { type: 'error-updated', status: "Didn't Pass Validation" },
    ])
    return taken
  }

  const claim = (node: 'one' | 'other', count = 10) => nodes[node].outbox.claim(node, 1000, count)

  /** The one event that is due. */
  async function due(node: 'one' | 'other'): Promise<OutgoingEvent> {
    const events = await claim(node)
    const [event] = events
    if (events.length !== 1 || !event) throw new Error(`${events.length} events are due`)
    return event
  }

  it('holds nothing of a file without webhooks, nor where no address is set', async () => {
    await toldFile({ webhook: false })
    await toldFile({ settings: false })
    expect(await claim('one')).toEqual([])
  })

  it('tells nothing of a change that did not happen', async () => {
    const { id, claim: mine } = await toldFile()
    await nodes.one.files.change(id, { kind: 'succeed', claim: mine, outputExtension: 'wav' }, [
      { type: 'status-updated', status: 'Processed' },
    ])
    const statuses: string[] = []
    for (let left = 3; left > 0; left -= 1) {
      const event = await due('one')
      statuses.push(`${event.body.type} ${event.body.message.status} ${event.body.message.errorCode}`)
      await nodes.one.outbox.settle(event, { outcome: 'delivered' }, entryOf(event, 'delivered'))
    }
    expect(statuses).toEqual([
      'status-updated In Progress 0',
      "status-updated Didn't Pass Validation -2",
      "error-updated Didn't Pass Validation -2",
    ])
    expect(await claim('one')).toEqual([])
  })

  it('gives each event to one node, the first of a file before the next, with who it is for', async () => {
    const { id, userId } = await toldFile()
    const [mine, theirs] = await Promise.all([claim('one'), claim('other')])
    const [event, ...more] = [...mine, ...theirs]
    expect(more).toEqual([])
    expect(event).toMatchObject({ fileId: id, userId, attempt: 1, secret: null })
    expect(event?.body).toEqual({
      userId,
      type: 'status-updated',
      message: { fileId: id, status: 'In Progress', progress: 0, errorCode: 0 },
    })
    expect(await claim('other', 0)).toEqual([])
    await toldFile()
    expect((await claim('other', 1)).length).toBe(1)
  })

  it('is told again by another node when the lease of a dead one is over, who then changes nothing', async () => {
    const { one, other } = nodes
    await toldFile()
    const dead = await due('one')
    nodes.advance(999)
    expect(await claim('other')).toEqual([])
    nodes.advance(2)
    const event = await due('other')
    expect([event.id, event.attempt]).toEqual([dead.id, 2])
    await one.outbox.settle(dead, { outcome: 'delivered' }, entryOf(dead, 'delivered'))
    await one.outbox.release(dead)
    expect([await claim('one'), await one.log.latest(9)]).toEqual([[], []])
    await other.outbox.settle(event, { outcome: 'delivered' }, entryOf(event, 'delivered'))
    await other.outbox.settle(event, { outcome: 'delivered' }, entryOf(event, 'delivered'))
    expect((await due('one')).id).toBeGreaterThan(event.id)
    expect((await one.log.latest(9)).length).toBe(1)
  })

  it('is tried again when its time has come, and given back without having been tried', async () => {
    const { one, other } = nodes
    await toldFile()
    const event = await due('one')
    await one.outbox.settle(event, { outcome: 'failed', againInMs: 5000.5 }, entryOf(event, 'failed'))
    nodes.advance(5000)
    expect(await claim('other')).toEqual([])
    nodes.advance(1)
    const second = await due('other')
    expect([second.id, second.attempt]).toEqual([event.id, 2])
    await other.outbox.release(second)
    expect((await due('one')).attempt).toBe(2)
  })

  it('is sent again from the log, once for any number of requests', async () => {
    const { one, other } = nodes
    await toldFile()
    const event = await due('one')
    await one.outbox.settle(event, { outcome: 'failed', againInMs: DAY_MS }, entryOf(event, 'failed'))
    const [failed] = await one.log.latest(1)
    await other.outbox.redeliver(failed?.id ?? 0)
    const again = await due('other')
    expect(again.id).toBe(event.id)
    await other.outbox.settle(again, { outcome: 'given-up' }, entryOf(again, 'given-up'))
    const [givenUp] = await one.log.latest(1)
    for (let call = 0; call < 2; call++) await one.outbox.redeliver(givenUp?.id ?? 0)
    const told: OutgoingEvent[] = []
    // The other two of the file, and this one again.
    for (let left = 3; left > 0; left -= 1) {
      const next = await due('one')
      told.push(next)
      await one.outbox.settle(next, { outcome: 'delivered' }, entryOf(next, 'delivered'))
    }
    expect(told.at(-1)).toMatchObject({ body: event.body, secret: event.secret, userId: event.userId, attempt: 1 })
    expect(await claim('one')).toEqual([])
    await expect(one.outbox.redeliver(0)).rejects.toMatchObject({ code: 'ERR_DELIVERY_UNKNOWN' })
  })

  it('writes down every attempt, newest first, for a time', async () => {
    const { one, other } = nodes
    await toldFile()
    const event = await due('one')
    await one.outbox.settle(event, { outcome: 'failed', againInMs: 0 }, entryOf(event, 'failed'))
    nodes.advance(DAY_MS)
    const second = await due('other')
    await other.outbox.settle(second, { outcome: 'given-up' }, entryOf(second, 'given-up'))
    const log = await one.log.latest(9)
    const id = expect.any(Number)
    expect(log).toEqual([
      { ...entryOf(second, 'given-up'), id, atMs: 1_800_000_000_000 + DAY_MS },
      { ...entryOf(event, 'failed'), id, atMs: 1_800_000_000_000 },
    ])
    expect(await other.log.latest(1)).toEqual(log.slice(0, 1))
    await one.log.forgetOld(DAY_MS)
    expect((await other.log.latest(9)).length).toBe(2)
    nodes.advance(1)
    await one.log.forgetOld(DAY_MS)
    expect(await other.log.latest(9)).toEqual(log.slice(0, 1))
  })
}
