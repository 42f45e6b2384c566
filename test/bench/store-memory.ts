/**
 * `npm run bench store-memory`: what a job costs in PostgreSQL, waiting and done, with the order and the receipt that
 * it has in life, and a voice that was paid for. Bytes of tables and indexes a job, after a vacuum.
 */
import { randomBytes } from 'node:crypto'
import { openSharedLedger } from '../../src/ledger/index.js'
import { PostgresServer } from '../helpers/system/postgres-server.js'
import { importJobs } from '../ledger/store-fixture.js'

const JOBS = 5000
/** As `voxmux run` writes it for a two-minute interview, and in a form that no database compresses. */
const RECEIPT_BYTES = 6000

const server = await PostgresServer.start()
const ledger = await openSharedLedger(server.url)
const usedBytes = () => server.usedBytes()
const say = (what: string, bytes: number) =>
  process.stdout.write(`${what.padEnd(44)} ${Math.round(bytes / JOBS)} bytes\n`)
try {
  const settings = {
    preset: 'transparent',
    recipe: { voice: { model: 'regen_v1' }, audio: {}, verify: 'full' },
    segments: [],
  }
  const order = {
    version: 1,
    address: null,
    output: '/mnt/nas/out/',
    settings,
    remote: false,
    supersede: true,
    data: {},
  }
  const requests = Array.from({ length: JOBS }, (_, n) => ({
    key: `${n}`.padStart(64, '0'),
    group: '/mnt/nas/ingest',
    input: `/mnt/nas/ingest/2026-11-21/camera-2/interview-${n}.mov`,
    inputIdentity: { sizeBytes: 4e9, mtimeMs: 1_795_000_000_000, sha256: 'a'.repeat(64) },
    recipeHash: 'b'.repeat(64),
    preset: 'transparent',
    state: { order },
  }))
  const empty = usedBytes()
  await importJobs(ledger, requests)
  const waiting = usedBytes()
  say('a job that waits', waiting - empty)
  for (const { key } of requests) {
    const claim = await ledger.voices.claim(key)
    if (claim.outcome !== 'claimed') continue
    const { lease } = claim
    await ledger.voices.advance(lease, { status: 'registering' })
    await ledger.voices.advance(lease, { status: 'registered', fileId: `f-${key.slice(-32)}` })
    await ledger.voices.advance(lease, { status: 'starting', paidSec: 120 })
    await ledger.voices.advance(lease, { status: 'succeeded' })
    await ledger.voices.advance(lease, { status: 'cached' })
    await ledger.voices.release(lease)
  }
  const paid = usedBytes()
  say('a voice that was paid for, and its file id', paid - waiting)
  for (let n = 0; n < JOBS; n += 1) {
    const claim = await ledger.jobs.claimNext()
    if (!claim) break
    const receipt = `/mnt/nas/out/interview-${n}.regen.mov.voxmux.json`
    const state = { receipt: { text: randomBytes((RECEIPT_BYTES * 3) / 4).toString('base64') } }
    await ledger.jobs.checkpoint(claim.lease, { publishedSha256: 'c'.repeat(64), state, output: receipt.slice(0, -12) })
    await ledger.jobs.complete(claim.lease, { status: 'done', receipt })
  }
  const done = usedBytes()
  say(`what it grows by when done (receipt of ${RECEIPT_BYTES} B)`, done - paid)
  await ledger.jobs.forgetEnded(Date.now() + 60_000)
  say('what is left when the jobs are forgotten', usedBytes() - empty)
} finally {
  await ledger.close()
  await server.stop()
}
