import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readZipDirectory } from '../../../plugins/timelines/bundles/zip-directory.js'
import { entryContent } from '../../../plugins/timelines/bundles/zip-entry.js'
import { centralRecord, endRecords, localHeader, type ZipEntry } from '../../../plugins/timelines/bundles/zip-format.js'
import { planTimeline, regenerateTimeline, type TimelineRequest } from '../../../plugins/timelines/index.js'
import { readTimeline } from '../../../plugins/timelines/read-timeline.js'
import { rational } from '../../../plugins/timelines/time/rational.js'
import { decodedPcm, jobBench } from '../../helpers/job-bench.js'
import { runCli } from '../../helpers/voxmux-cli.js'
import { cutOf, otioArchive } from './otio-archive.js'
import { external } from './otio-file.js'
import { timelineRequest } from './timeline-request.js'

const bench = jobBench()

const archive = (name: string, text: string, media: Readonly<Record<string, string>>) =>
  otioArchive(bench, name, text, media)
const run = promisify(execFile)

async function regenerate(input: string, more: Partial<TimelineRequest> = {}) {
  const plan = await planTimeline(timelineRequest(input, more), {})
  try {
    return { plan, outcome: await regenerateTimeline(plan, bench.pipeline.context, { concurrency: 1 }) }
  } finally {
    await plan.bundle?.release()
  }
}

/** Each entry with its SHA-256 as Python's zipfile reads it; it checks every CRC-32. */
async function entriesOf(path: string): Promise<Record<string, string>> {
  const script = `import hashlib, json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as read:
    assert read.testzip() is None
    print(json.dumps({name: hashlib.sha256(read.read(name)).hexdigest() for name in read.namelist()}))`
  return JSON.parse((await run('python3', ['-c', script, path])).stdout)
}

async function entryText(path: string, name: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const entry = (await readZipDirectory(file)).entries.find((one) => one.name === name)
    return entry ? Buffer.concat(await (await entryContent(file, entry)).toArray()).toString() : ''
  } finally {
    await file.close()
  }
}

describe('an OTIOZ archive', () => {
  it('is not unpacked over a file of somebody else, nor is that removed', async () => {
    const speech = await bench.take('speech.wav')
    const cut = await archive('cut.otioz', cutOf('media/speech.wav'), { 'media/speech.wav': speech })
    const there = bench.folder.file('cut.regen.media/media/speech.wav')
    await mkdir(bench.folder.file('cut.regen.media/media'), { recursive: true })
    await writeFile(there, 'of somebody else')
    await expect(planTimeline(timelineRequest(cut), {})).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
    expect(await readFile(there, 'utf8')).toBe('of somebody else')
    await copyFile(speech, there)
    const [plan, other] = [await planTimeline(timelineRequest(cut), {}), await planTimeline(timelineRequest(cut), {})]
    await plan.bundle?.release()
    await other.bundle?.release()
    expect((await readFile(there)).equals(await readFile(speech))).toBe(true)
    expect(await readdir(bench.folder.file('cut.regen.media/media'))).toEqual(['speech.wav'])
  })

  it('becomes an archive with the new media beside the old, and nothing else is different', async () => {
    bench.answerWith('-af', 'volume=-6dB')
    const speech = await bench.take('speech.wav')
    const text = cutOf('media/room 1.wav', 'media/gone.wav')
    const cut = await archive('cut.otioz', text, { 'media/room 1.wav': speech, 'media/picture.png': speech })
    const [original, before] = [await readFile(cut), await entriesOf(cut)]
    const { plan, outcome } = await regenerate(cut)
    const made = bench.folder.file('cut.regen.otioz')
    expect(outcome.event).toMatchObject({ status: 'done', output: made, error: null })
    expect(plan.sources.map(({ used }) => used)).toEqual([[{ startSample: 24_000, endSample: 48_000 }]])
    expect(plan.notes).toMatchObject([{ kind: 'offline', subject: 'gone.wav' }])

    const after = await entriesOf(made)
    expect(Object.keys(after)).toEqual([...Object.keys(before), 'media/room 1.regen.wav'])
    for (const name of ['media/room 1.wav', 'media/picture.png', 'version.txt']) expect(after[name]).toBe(before[name])
    const clips = JSON.parse(await entryText(made, 'content.otio')).tracks.children[0].children
    expect(clips[0].media_references.voxmux.target_url).toBe('media/room 1.regen.wav')
    expect(clips[0].media_references.DEFAULT_MEDIA.target_url).toBe('media/room 1.wav')
    expect(clips[1].media_references).toEqual({ DEFAULT_MEDIA: external('media/gone.wav') })

    // The archive was only read. Of what was unpacked, the regenerated file and its receipt stay.
    expect((await readFile(cut)).equals(original)).toBe(true)
    const kept = bench.folder.file('cut.regen.media/media')
    expect((await readdir(kept)).sort()).toEqual(['room 1.regen.wav', 'room 1.regen.wav.voxmux.json'])
    const [old, now] = [await decodedPcm(speech), await decodedPcm(`${kept}/room 1.regen.wav`)]
    expect(now.subarray(0, 24_000 * 4).equals(old.subarray(0, 24_000 * 4))).toBe(true)
    expect(now.subarray(24_000 * 4, 48_000 * 4).equals(old.subarray(24_000 * 4, 48_000 * 4))).toBe(false)

    // The same again is done already. A new archive that somebody lost its file from is not the same.
    expect((await regenerate(cut)).outcome.event).toMatchObject({ status: 'skipped', error: null })
    expect(bench.server.charges).toBe(1)
    const lost = await archive('lost.otioz', await entryText(made, 'content.otio'), { 'media/room 1.wav': speech })
    await rename(lost, made)
    await expect(regenerate(cut)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
  })

  it('is unpacked for a plan, and nothing of that stays', async () => {
    const speech = await bench.take('speech.wav')
    const cut = await archive('cut.otioz', cutOf('file:media/speech.wav'), { 'media/speech.wav': speech })
    const plan = await planTimeline(timelineRequest(cut, { output: 'finished/', cwd: bench.folder.path }), {})
    expect(plan.output).toBe(bench.folder.file('finished/cut.regen.otioz'))
    const unpacked = bench.folder.file('finished/cut.regen.media/media/speech.wav')
    expect((await readFile(unpacked)).equals(await readFile(speech))).toBe(true)
    await plan.bundle?.release()
    expect(existsSync(bench.folder.file('finished/cut.regen.media'))).toBe(false)
    const env = { ...bench.server.env, VOXMUX_STATE_DIR: bench.folder.file('cli-state') }
    const shown = await runCli(['timeline', 'cut.otioz', '--dry-run'], { cwd: bench.folder.path, env })
    expect([shown.exitCode, shown.stdout]).toEqual([0, expect.stringContaining('0:00.500 of 0:03.000 shot')])
    expect(existsSync(bench.folder.file('cut.regen.media'))).toBe(false)
  })
})

it('names new media in a bundle so that they are found, whatever signs they have', () => {
  const file = { path: 'x', textPath: 'x', extension: '.otioz', encoding: 'utf8', needsFrameRate: false } as const
  const { relink, sources } = readTimeline({ ...file, text: cutOf('media/a.wav') }, rational(25))
  for (const packedName of [
    'media/50%.wav',
    'media/a%41.wav',
    'media/a %41.wav',
    'media/a 50%25.wav',
    'media/ä#1?.wav',
  ]) {
    const made = relink(new Map([[sources[0]?.id ?? '', { path: '/new.wav', original: '/a.wav', packedName }]]))
    expect(readTimeline({ ...file, text: made }, rational(25)).sources.map(({ paths }) => paths)).toEqual([
      [packedName],
    ])
  }
})

describe('a hostile archive', () => {
  /** Changes single bytes of an archive that is otherwise whole. */
  async function damaged(change: (bytes: Buffer) => void, text = cutOf('media/speech.wav')): Promise<string> {
    const cut = await archive('cut.otioz', text, { 'media/speech.wav': await bench.take('speech.wav') })
    const bytes = await readFile(cut)
    change(bytes)
    await writeFile(cut, bytes)
    return cut
  }
  const refusal = (cut: string) =>
    planTimeline(timelineRequest(cut), {}).then(
      () => 'read',
      ({ code, message }) => {
        expect(code).toBe('ERR_TIMELINE_UNREADABLE')
        return message as string
      },
    )
  const directoryOf = (bytes: Buffer) => bytes.readUInt32LE(bytes.length - 6)

  it('never writes outside its folder', async () => {
    const speech = await bench.take('speech.wav')
    await mkdir(bench.folder.file('cuts'))
    const names = ['../../out.wav', '/tmp/voxmux-out.wav', 'media/../../out.wav', '..\\out.wav']
    const media = Object.fromEntries([...names, 'media/speech.wav'].map((name) => [name, speech]))
    const cut = await archive('cuts/cut.otioz', cutOf('media/speech.wav', ...names), media)
    const plan = await planTimeline(timelineRequest(cut), {})
    const all = await readdir(bench.folder.path, { recursive: true })
    expect(all.filter((name) => /out\.wav/.test(name))).toEqual([])
    expect(existsSync('/tmp/voxmux-out.wav')).toBe(false)
    expect(plan.sources.map(({ media }) => media.path)).toEqual([
      bench.folder.file('cuts/cut.regen.media/media/speech.wav'),
    ])
    await plan.bundle?.release()
  })

  it('is refused in one sentence', async () => {
    expect(await refusal(await damaged((bytes) => bytes.writeUInt16LE(0xfff0, bytes.length - 12)))).toMatch(/truncated/)
    expect(await refusal(await damaged((bytes) => bytes.fill(0, bytes.length - 22)))).toMatch(/has no directory/)
    // The stored sound has another CRC-32 than its bytes, or states to be gigabytes.
    expect(await refusal(await damaged((bytes) => bytes.fill(9, 2000, 2010)))).toMatch(
      /speech.wav in the archive is damaged/,
    )
    const larger = (bytes: Buffer) => bytes.writeUInt32LE(0xfffffff0, directoryOf(bytes) + 24)
    expect(await refusal(await damaged(larger))).toMatch(/has two sizes/)
    const outside = (bytes: Buffer) => bytes.writeUInt32LE(0x7ffffff0, directoryOf(bytes) + 42)
    expect(await refusal(await damaged(outside))).toMatch(/lies outside it/)
    const encrypted = (bytes: Buffer) => bytes.writeUInt16LE(1, directoryOf(bytes) + 8)
    expect(await refusal(await damaged(encrypted))).toMatch(/is encrypted/)
    const overlapping = (bytes: Buffer) => {
      const grown = bytes.readUInt32LE(directoryOf(bytes) + 20) + 40
      for (const shift of [20, 24]) bytes.writeUInt32LE(grown, directoryOf(bytes) + shift)
    }
    expect(await refusal(await damaged(overlapping))).toMatch(/overlaps another file/)
    // A megabyte of spaces is a kilobyte of zip.
    expect(await refusal(await damaged(() => {}, ' '.repeat(5_000_000)))).toMatch(/unpack to far more than it is/)
    expect(existsSync(bench.folder.file('cut.regen.media'))).toBe(false)
  })
})

it('reads and writes the records of archives beyond 4 GiB, as Python does', async () => {
  const path = bench.folder.file('large.zip')
  const file = await open(path, 'w+')
  const content = Buffer.from('far away')
  const nothing = Buffer.alloc(0)
  const entry: ZipEntry = {
    ...{ name: 'far.txt', rawName: Buffer.from('far.txt'), madeBy: 0, flags: 0, method: 0, dosTime: 0x21 << 16 },
    ...{ crc32: crc32(content), compressedBytes: 8, sizeBytes: 8, externalAttributes: 0, extra: nothing },
    ...{ comment: nothing, offset: 5 * 1024 ** 3 },
  }
  const gap = { ...entry, name: 'gap', rawName: Buffer.from('gap'), offset: 0, compressedBytes: 5e9, sizeBytes: 5e9 }
  try {
    await file.write(localHeader(gap), 0, null, 0)
    const local = Buffer.concat([localHeader(entry), content])
    await file.write(local, 0, null, entry.offset)
    const at = entry.offset + local.length
    const directory = Buffer.concat([centralRecord(gap), centralRecord(entry)])
    await file.write(Buffer.concat([directory, endRecords(2, directory.length, at, Buffer.from('ours'))]), 0, null, at)
    expect(await readZipDirectory(file)).toMatchObject({
      ...{ offset: at, comment: Buffer.from('ours') },
      entries: [
        { name: 'gap', sizeBytes: 5e9, compressedBytes: 5e9, offset: 0 },
        { name: 'far.txt', sizeBytes: 8, offset: entry.offset, extra: nothing },
      ],
    })
    const script = `import sys, zipfile
read = zipfile.ZipFile(sys.argv[1])
print(read.read('far.txt').decode(), read.getinfo('gap').file_size, read.comment.decode())`
    expect((await run('python3', ['-c', script, path])).stdout).toBe('far away 5000000000 ours\n')
  } finally {
    await file.close()
  }
})

describe('an OTIOD folder', () => {
  it('becomes a folder with the new media beside the old', async () => {
    bench.answerWith('-af', 'volume=-6dB')
    const bundle = bench.folder.file('cut.otiod')
    await mkdir(`${bundle}/media`, { recursive: true })
    await rename(await bench.take('speech.wav'), `${bundle}/media/speech.wav`)
    await writeFile(`${bundle}/media/speech.regen.wav`, 'of an earlier day')
    const text = cutOf('media/speech.wav')
    await writeFile(`${bundle}/content.otio`, text)
    const before = await readdir(bundle, { recursive: true })
    const { outcome } = await regenerate(bundle)
    const made = bench.folder.file('cut.regen.otiod')
    expect(outcome.event).toMatchObject({ status: 'done', output: made, error: null })
    expect(await readdir(bundle, { recursive: true })).toEqual(before)
    const clips = JSON.parse(await readFile(`${made}/content.otio`, 'utf8')).tracks.children[0].children
    expect(clips[0].media_references.voxmux.target_url).toBe('media/speech.regen-2.wav')
    const job = bench.folder.file('cut.regen.media/media/speech.regen.wav')
    expect((await readFile(`${made}/media/speech.regen-2.wav`)).equals(await readFile(job))).toBe(true)
    expect(await readFile(`${made}/media/speech.regen.wav`, 'utf8')).toBe('of an earlier day')
    expect((await stat(`${made}/media/speech.wav`)).size).toBe((await stat(`${bundle}/media/speech.wav`)).size)
    expect((await regenerate(bundle)).outcome.event).toMatchObject({ status: 'skipped', error: null })
    expect(bench.server.charges).toBe(1)

    bench.server.behaviour.regenerate = async (path) => {
      await writeFile(`${bundle}/content.otio`, `${longer} `)
      return readFile(path)
    }
    const longer = text.replace('24000', '12000')
    expect(longer).not.toBe(text)
    await writeFile(`${bundle}/content.otio`, longer)
    await expect(regenerate(bundle)).rejects.toMatchObject({ code: 'ERR_INPUT_CHANGED' })
  })
})
