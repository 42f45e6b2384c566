import { expect, it } from 'vitest'
import { bedLine } from '../../src/cli/show/bed-line.js'
import { showPlans } from '../../src/cli/show/dry-run.js'
import { checkFile } from '../../src/pipeline/job/check-file.js'
import { fixture } from '../helpers/job-bench.js'
import { ffmpeg, testFolder } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

it('says how long music plays, and what happens to it', () => {
  expect(bedLine(0.4, 'keep', true)).toBeNull()
  expect(bedLine(0.4, 'lower', true)).toMatch(/^No music was found .* `--bed lower` probably changes nothing\.$/)
  expect(bedLine(12, 'keep', true)).toBe('Music plays under the voice for 0:12.000. The sound stays as it is there.')
  expect(bedLine(12, 'keep', false)).toContain('A service may change it.')
  expect(bedLine(12, 'lower', false)).toContain('It becomes 6 dB quieter.')
})

it('check and a dry run find music under a voice', async () => {
  const folder = await testFolder()
  const path = folder.file('bed.wav')
  const chord = 'aevalsrc=0.05*(sin(1644*t)+sin(2071*t)+sin(2463*t)):d=3:s=48000'
  const mix = '[0][1]amix=inputs=2:normalize=0:duration=shortest'
  await ffmpeg('-i', fixture('speech.wav'), '-f', 'lavfi', '-i', chord, '-filter_complex', mix, path)
  const request = requestFor(path)
  const { signal } = new AbortController()
  const { file } = await checkFile(path, request.settings, { limits: {}, isEmbedded: false }, signal)
  expect(file.map?.music.filter((value) => value >= 0.5).length).toBeGreaterThanOrEqual(2)

  const lines: string[] = []
  const output = { event: () => {}, print: (line: string) => lines.push(line), note: () => {}, result: () => {} }
  await showPlans([request], {}, { cwd: '/', output, signal } as never, { isFree: true })
  expect(lines.join()).toMatch(/Music plays under the voice for 0:0[23]/)
  await folder.remove()
})

it('a dry run refuses an encrypted track by name, before it listens for music', async () => {
  const folder = await testFolder()
  const path = folder.file('protected.mp4')
  const key = ['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', 'ab'.repeat(16), '-encryption_kid']
  await ffmpeg('-i', fixture('speech.wav'), '-c:a', 'aac', ...key, 'cd'.repeat(16), path)
  const { signal } = new AbortController()
  const notes: string[] = []
  const output = { event: () => {}, print: () => {}, note: (line: string) => notes.push(line), result: () => {} }
  for (const request of [requestFor(path), requestFor(path, { recipe: { onlyNoisy: true } })]) {
    notes.length = 0
    expect(await showPlans([request], {}, { cwd: '/', output, signal } as never)).toBe(5)
    expect(notes.join()).toContain('is encrypted')
  }
  await folder.remove()
})
