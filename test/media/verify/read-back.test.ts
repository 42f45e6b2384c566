import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { verifyMux } from '../../../src/media/verify/verify-mux.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { syncOffsets, writtenFile } from '../../helpers/written-file.js'

/** AAC of little bandwidth in another container. */
const AAC = { container: 'm4a', audioCodec: 'aac', fallbackBitRate: 32_000 }

describe('the place of new sound', () => {
  const folder = folderOfTests()

  it('is found if both channels have the same sound with opposite phase', async () => {
    const path = folder.file('opposite.opus')
    const noise = ['-f', 'lavfi', '-i', 'anoisesrc=d=1:a=0.3:seed=7:r=48000,lowpass=3000']
    await ffmpeg(...noise, '-af', 'pan=stereo|c0=c0|c1=-1*c0', '-c:a', 'libopus', '-b:a', '96k', path)
    const { verified } = await writtenFile(path)
    expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  })

  it('is not sought in sound above the voice alone, such as shaped dither, which AAC leaves out', async () => {
    const path = folder.file('dither.wav')
    const dither = 'anoisesrc=d=6:a=0.0001:seed=7:r=48000,highpass=17000:p=2,highpass=17000:p=2'
    const voice = 'anoisesrc=d=6:a=0.2:seed=3:r=48000,lowpass=3000,volume=lt(t\\,1.9)+gt(t\\,4.1):eval=frame'
    await ffmpeg('-filter_complex', `${dither}[d];${voice}[v];[d][v]amix=normalize=0`, '-c:a', 'pcm_s24le', path)
    const { verified } = await writtenFile(path, AAC)
    expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, null, 0])
  })

  it('is that of a voice under louder sound that AAC leaves out', async () => {
    const path = folder.file('under.wav')
    const noise = 'anoisesrc=d=3:a=0.03:seed=7:r=48000,highpass=19000:p=2,highpass=19000:p=2,highpass=19000:p=2'
    const voice = 'anoisesrc=d=3:a=0.01:seed=3:r=48000,lowpass=3000'
    await ffmpeg('-filter_complex', `${noise}[n];${voice}[v];[n][v]amix=normalize=0`, '-c:a', 'pcm_s24le', path)
    const { verified } = await writtenFile(path, AAC)
    expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  })

  it('is that of a tone, which fits at every period, though the noise of the encoder differs', async () => {
    const { plan, result, part } = await toneChanged('noisy.wav', (sound) => {
      // As much noise as a lossy encoder makes of an onset, and none after it.
      for (let at = 0; at < 3600; at++) sound[at] = (sound[at] as number) + (((at * 7919) % 1009) - 504)
    })
    const { sync } = await verifyMux(plan, result, part, { level: 'full' })
    expect(sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  })

  it('is that of a tone whose first samples the priming of WMA replaces', async () => {
    const path = folder.file('onset.wav')
    const tone = 'sine=269:d=1.046:r=22050,volume=2-t:eval=frame'
    await ffmpeg('-f', 'lavfi', '-i', tone, '-c:a', 'pcm_s16le', path)
    const { verified } = await writtenFile(path, { container: 'wma', audioCodec: 'wmav2' })
    // Times in milliseconds, which is 22 samples.
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(22)
  })

  it('is not sought in the silence behind a click that the priming of WMA replaces', async () => {
    const path = folder.file('click.wav')
    const sound = 'anoisesrc=d=4:a=0.3:seed=3:r=44100,lowpass=3000,volume=lt(t\\,0.01)+gt(t\\,1.5):eval=frame'
    await ffmpeg('-f', 'lavfi', '-i', sound, '-af', 'asetnsamples=n=441', '-c:a', 'pcm_s16le', path)
    const { verified } = await writtenFile(path, { container: 'wma', audioCodec: 'wmav2' })
    expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples === null)).toEqual([true, false, false])
  })

  it('is that of a slow wave, which fits as well a ms away', async () => {
    const path = folder.file('slow.ogg')
    await ffmpeg('-f', 'lavfi', '-i', 'aevalsrc=tanh(3*sin(2*PI*t+0.6)):s=44100:d=1', '-c:a', 'libvorbis', path)
    const { verified } = await writtenFile(path)
    const offsets = verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples ?? 0) ?? []
    expect(offsets).toHaveLength(3)
    for (const offset of offsets) expect(Math.abs(offset)).toBeLessThanOrEqual(2)
  })

  it.each([
    // Opus turns its phase, and Vorbis covers a voice under it.
    ['wind', 'val(0)+0.5*sin(2*PI*12*t+3*sin(t))', ['opus', 'libopus']],
    ['a moved microphone', 'val(0)+0.15-exp(-t/3)', ['opus', 'libopus']],
    ['an offset', 'val(0)+0.7', ['ogg', 'libvorbis']],
  ])('is that of a voice under %s', async (name, sum, [container = '', codec = '']) => {
    const path = folder.file(`${name}.${container}`)
    const voice = 'anoisesrc=d=8:a=0.02:seed=3:r=48000,lowpass=3000'
    await ffmpeg('-f', 'lavfi', '-i', voice, '-af', `aeval=${sum}`, '-c:a', codec, path)
    const { verified } = await writtenFile(path)
    expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  })

  it.each([
    ['a live recording, which states no length', 'live.webm', ['-c:a', 'libopus', '-live', '1']],
    ['a film whose sound ends before its picture', 'film.mkv', ['-c:a', 'aac', '-c:v', 'mpeg4']],
  ])('is judged in each third of %s', async (_, name, options) => {
    const path = folder.file(name)
    const picture = name.startsWith('film') ? ['-f', 'lavfi', '-i', 'testsrc2=s=160x90:d=12'] : []
    await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=3:a=0.3:seed=3:r=48000,lowpass=3000', ...picture, ...options, path)
    const { verified } = await writtenFile(path)
    expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  })

  it('is not sought in an offset that fades away', async () => {
    const path = folder.file('fading.opus')
    await ffmpeg('-f', 'lavfi', '-i', 'aevalsrc=0.15-exp(-t*20):s=48000:d=0.7', '-c:a', 'libopus', '-b:a', '96k', path)
    const { verified } = await writtenFile(path)
    for (const { offsetSamples } of verified.sync[0]?.places ?? [])
      expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(48)
    expect(verified.sync[0]?.places).toHaveLength(3)
  })

  it('is not that of a voice that is shifted under wind', async () => {
    const path = folder.file('shifted.wav')
    const voice = 'anoisesrc=d=4:a=0.02:seed=3:r=44100,lowpass=3000,aeval=val(0)+0.5*sin(2*PI*12*t)'
    await ffmpeg('-f', 'lavfi', '-i', voice, path)
    const { plan, result, part } = await changed(path, (sound) => sound.copyWithin(100, 0))
    await expect(verifyMux(plan, result, part, { level: 'full' })).rejects.toThrow(
      'the timing of audio track 0 (100 samples off at its start)',
    )
  })

  it('is not that of a tone that begins a period late', async () => {
    const { plan, result, part } = await toneChanged('late.wav', (sound) => {
      sound.copyWithin(100, 0).fill(0, 0, 100)
    })
    await expect(verifyMux(plan, result, part, { level: 'full' })).rejects.toThrow(
      'the timing of audio track 0 (100 samples off at its start)',
    )
  })

  it('is not that of a slow tone that is shifted under noise', async () => {
    const shifted = (sound: Int16Array) => {
      sound.copyWithin(60, 0).fill(0, 0, 60)
      for (let at = 0; at < sound.length; at++) sound[at] = (sound[at] as number) + 8 * (((at * 7919) % 1009) - 504)
    }
    const { plan, result, part } = await toneChanged('under-noise.wav', shifted, 40)
    await expect(verifyMux(plan, result, part, { level: 'full' })).rejects.toThrow('the timing of audio track 0')
  })

  /** A part file of half a second of tone, loudest at its start, with a period of 100 samples at 441 Hz. */
  async function toneChanged(name: string, change: (sound: Int16Array) => void, hz = 441) {
    const path = folder.file(name)
    await ffmpeg('-f', 'lavfi', '-i', `sine=f=${hz}:r=44100:d=0.5`, '-af', 'volume=1-t/10:eval=frame', path)
    return changed(path, change)
  }

  /** A written file of 16 bits with other samples. */
  async function changed(path: string, change: (sound: Int16Array) => void) {
    const written = await writtenFile(path)
    const bytes = await readFile(written.part)
    const start = bytes.indexOf('data') + 8
    const sound = new Int16Array(new Uint8Array(bytes.subarray(start)).buffer)
    change(sound)
    await writeFile(written.part, Buffer.concat([bytes.subarray(0, start), Buffer.from(sound.buffer)]))
    // As if there were no side file: its samples would be compared too.
    const voices = written.result.voices.map((voice) => ({ ...voice, encoded: null }))
    return { ...written, result: { ...written.result, voices } }
  }
})
