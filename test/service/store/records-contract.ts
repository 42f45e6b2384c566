import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { readIdentity } from '../../../src/service/store/service-store.js'
import { aClaim, DAY_MS, eachWithTwoNodes, type OpenTwoNodes } from './store-fixture.js'

const target = { url: 'https://a.example/hook', method: 'POST', secretPosition: 'header', secret: 's' } as const

function aKey(userId: string, more: object = {}) {
  const createdMs = 1_800_000_000_000
  const times = { createdMs, expiresMs: createdMs + DAY_MS, revokedMs: null }
  return { clientId: randomUUID(), userId, name: 'ci', secretHash: 'abc', isLasting: true, ...times, ...more }
}

/** What every store keeps of accounts, keys, settings and turns. */
export function recordsContract(open: OpenTwoNodes): void {
  const nodes = eachWithTwoNodes(open)

  it('agrees on one identity, whoever starts first', async () => {
    const [mine, theirs] = await Promise.all([readIdentity(nodes.one), readIdentity(nodes.other)])
    expect(mine).toEqual(theirs)
    expect(new Set(Object.values(mine)).size).toBe(5)
    expect(await nodes.other.keepFirst('service_id', 'another')).toBe(mine.serviceId)
  })

  it('has one account a name and one user an outside subject', async () => {
    const { one, other } = nodes
    const [mine, theirs] = await Promise.all([one.accounts.ensure('local'), other.accounts.ensure('local')])
    expect(mine).toEqual(theirs)
    expect(mine).toMatchObject({ name: 'local', creditsSec: null })
    await expect(other.accounts.create('local')).rejects.toMatchObject({ code: 'ERR_ACCOUNT_EXISTS' })
    await expect(one.accounts.named('nobody')).rejects.toMatchObject({ code: 'ERR_ACCOUNT_UNKNOWN' })
    const subject = await one.accounts.ensureSubject('https://issuer.example me')
    expect(await other.accounts.ensureSubject('https://issuer.example me')).toEqual(subject)
    nodes.advance(1)
    const made = await other.accounts.create('studio')
    expect((await one.accounts.list()).map(({ name }) => name).at(-1)).toBe('studio')
    expect(await one.accounts.named('studio')).toEqual(made)
    expect(await one.accounts.byId(made.id)).toEqual(made)
    expect(await one.accounts.byId('nobody')).toBeUndefined()
  })

  it('keeps credits, and no limit where none is set', async () => {
    const { one, other } = nodes
    const { id } = await one.accounts.ensure('local')
    await one.accounts.setCredits(id, 12.5)
    expect((await other.accounts.byId(id))?.creditsSec).toBe(12.5)
    await other.accounts.setCredits(id, null)
    expect((await one.accounts.byId(id))?.creditsSec).toBeNull()
  })

  it('keeps webhook settings, or none', async () => {
    const { one, other } = nodes
    const { id } = await one.accounts.ensure('local')
    expect(await one.targets.of(id)).toBeUndefined()
    await one.targets.set(id, target)
    expect(await other.targets.of(id)).toEqual(target)
    await other.targets.set(id, { ...target, secret: null })
    expect(await one.targets.of(id)).toEqual({ ...target, secret: null })
    await one.targets.set(id, null)
    expect(await other.targets.of(id)).toBeUndefined()
    await expect(one.targets.set(id, { ...target, url: 'ftp://a' })).rejects.toMatchObject({
      code: 'ERR_WEBHOOK_SETTINGS',
    })
  })

  it('keeps keys: changed, listed in the order of their time, forgotten when long over', async () => {
    const { one, other } = nodes
    const { id } = await one.accounts.ensure('local')
    const [later, first] = [aKey(id, { createdMs: 1_800_000_000_001 }), aKey(id)]
    const passing = aKey(id, { isLasting: false, expiresMs: 1_800_000_000_000 + 10 * DAY_MS })
    for (const key of [later, first, passing]) await one.keys.add(key)
    expect(await other.keys.list()).toEqual([first, later])
    expect(await other.keys.get(passing.clientId)).toEqual(passing)
    expect(await other.keys.get('nobody')).toBeUndefined()

    await other.keys.change(first.clientId, { revokedMs: 5 })
    expect(await one.keys.get(first.clientId)).toEqual({ ...first, revokedMs: 5 })
    const renewed = { secretHash: 'new', createdMs: 1_800_000_000_002, expiresMs: 1_900_000_000_000, revokedMs: null }
    await one.keys.change(first.clientId, renewed)
    expect(await other.keys.list()).toEqual([later, { ...first, ...renewed }])
    await one.keys.change('nobody', renewed)
    expect(await other.keys.get('nobody')).toBeUndefined()

    nodes.advance(3 * DAY_MS)
    await other.keys.forgetExpired(DAY_MS)
    expect(await one.keys.list()).toEqual([{ ...first, ...renewed }])
    expect(await one.keys.get(passing.clientId)).toEqual(passing)
    await one.keys.forget(passing.clientId)
    expect(await other.keys.get(passing.clientId)).toBeUndefined()
  })

  it('adds a key only where its user has none that is good', async () => {
    const { one, other } = nodes
    const [me, you] = [await one.accounts.ensure('local'), await one.accounts.ensure('studio')]
    const [mine, theirs] = [aKey(me.id), aKey(you.id)]
    await one.keys.add(aKey(me.id, { isLasting: false }))
    expect(await one.keys.addUnlessGood(mine)).toEqual(mine)
    // As one that asks again, because it did not hear the answer.
    expect(await one.keys.addUnlessGood(mine)).toEqual(mine)
    expect(await other.keys.addUnlessGood(aKey(me.id))).toEqual(mine)
    expect(await other.keys.addUnlessGood(theirs)).toEqual(theirs)
    await other.keys.change(mine.clientId, { revokedMs: 5 })
    const second = aKey(me.id, { createdMs: mine.createdMs + 1 })
    expect(await one.keys.addUnlessGood(second)).toEqual(second)
    const newer = aKey(me.id, { createdMs: mine.createdMs + 2 })
    await one.keys.add(newer)
    expect(await one.keys.addUnlessGood(aKey(me.id))).toEqual(newer)
    const afterAll = aKey(me.id, { createdMs: newer.expiresMs })
    expect(await other.keys.addUnlessGood(afterAll)).toEqual(afterAll)
  })

  it('has one newest signing key, and forgets those whose last token is over', async () => {
    const { one, other } = nodes
    const key = (kid: string) => ({ kid, jwk: { kty: 'RSA', n: kid } })
    const added = await Promise.all([
      one.signingKeys.add(key('a'), undefined, DAY_MS),
      other.signingKeys.add(key('b'), undefined, DAY_MS),
    ])
    expect(added[0]).toEqual(added[1])
    const [first] = await one.signingKeys.all()
    expect([first]).toEqual(await other.signingKeys.all())
    const second = await other.signingKeys.add(key('c'), first?.kid, DAY_MS)
    expect(second).toMatchObject(key('c'))
    // In the same millisecond, and newer all the same.
    expect((await one.signingKeys.all()).map(({ kid }) => kid)).toEqual(['c', first?.kid])
    expect(await one.signingKeys.add(key('d'), first?.kid, DAY_MS)).toEqual(second)
    nodes.advance(DAY_MS + 10)
    await one.signingKeys.add(key('e'), 'c', DAY_MS)
    expect((await other.signingKeys.all()).map(({ kid }) => kid)).toEqual(['e', 'c'])
  })

  it('gives one node at a time its turn', async () => {
    const { one, other } = nodes
    const [me, you] = [`node ${aClaim()}`, `node ${aClaim()}`]
    expect(await one.takeTurn('sweep', me, 1000)).toBe(true)
    expect([await other.takeTurn('sweep', you, 1000), await other.takeTurn('else', you, 1000)]).toEqual([false, true])
    nodes.advance(900)
    expect(await one.takeTurn('sweep', me, 1000)).toBe(true)
    nodes.advance(900)
    expect(await other.takeTurn('sweep', you, 1000)).toBe(false)
    nodes.advance(101)
    expect(await other.takeTurn('sweep', you, 1000)).toBe(true)
    expect(await one.takeTurn('sweep', me, 1000)).toBe(false)
    await other.takeTurn('sweep', you, 0)
    expect(await one.takeTurn('sweep', me, 1000)).toBe(true)
  })
}
