import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fixture } from '../helpers/job-bench.js'
import { describeWithC2pa } from '../helpers/read-by-stranger.js'
import { openSignedSweep, type SignedSweep } from '../helpers/signed-sweep.js'
import { type ZooFolder, zooFolder } from '../media/zoo/zoo-folder.js'
import { ZOO } from '../media/zoo/zoo-rows.js'

const isSoak = Boolean(process.env.VOXMUX_SOAK)
/** Its four channels are refused without a choice. */
const REFUSED = 'poly.wav'
/** Many kept streams in each of the two carriers; the soak signs the rest of the zoo and every fixture. */
const ROWS = ZOO.filter(({ name }) => (isSoak ? name !== REFUSED : ['film.mp4', 'film.mkv'].includes(name)))
const FIXTURES = isSoak ? readdirSync(fileURLToPath(new URL('../../fixtures', import.meta.url))) : []

describeWithC2pa('a signed copy', () => {
  let sweep: SignedSweep
  let zoo: ZooFolder
  beforeAll(async () => {
    zoo = await zooFolder()
    sweep = await openSignedSweep()
  })
  afterAll(async () => {
    await sweep.close()
    await zoo.remove()
  })

  it.each(ROWS)('is trusted, and has the packets of its input in all kept streams: $name', async (row) => {
    const { end, state, stranger, kept, different, failures } = await sweep.sign(await zoo.take(row))
    expect({ end, state, different, failures }).toEqual({ end: 'signed', state: 'trusted', different: 0, failures: [] })
    expect(stranger ?? 'Trusted').toBe('Trusted')
    if (!isSoak) expect(kept).toBeGreaterThan(2)
  })

  it.each(FIXTURES.filter((name) => /\.(?!md|ts)\w+$/.test(name)))('never differs: %s', async (name) => {
    const { end, state, different, failures } = await sweep.sign(fixture(name))
    // What is refused says why.
    expect([different, end === 'signed' ? failures : []]).toEqual([0, []])
    expect(end === 'signed' ? state : end).toMatch(/^(trusted|ERR_UNREADABLE|ERR_NO_AUDIO|ERR_TOO_MANY_CHANNELS)$/)
  })
})
