import { describe, expect, it } from 'vitest'
import { ffmpeg } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { soundMoved } from './sound-place.js'
import { film, onlySound, stereo } from './zoo-parts.js'
import { replaceVoice } from './zoo-run.js'

type Pair = readonly [container: string, video: string, audio: string]

/** What the zoo has no row for and people have most. */
const COMMON: readonly Pair[] = [
  ['mkv', 'libx264', 'aac'],
  ['mkv', 'libx264', 'libopus'],
  ['mov', 'libx264', 'aac'],
  ['ts', 'libx264', 'ac3'],
  ['m2ts', 'libx264', 'pcm_bluray'],
]
/** Every other pair that ffmpeg can write. */
const RARE: readonly Pair[] = [
  ...['eac3'].map(filmOf('ts', 'mpeg2video')),
  ...['ac3'].map(filmOf('mpg', 'mpeg2video')),
  ...['libopus'].map(filmOf('opus', '')),
  ...['libmp3lame', 'mp2', 'ac3', 'eac3', 'libopus', 'flac', 'alac', 'libvorbis'].map(filmOf('mp4', 'libx264')),
  ...['ac3', 'alac'].map(filmOf('m4v', 'libx264')),
  ...['libmp3lame', 'ac3', 'eac3', 'alac', 'pcm_s16le', 'pcm_s16be', 'pcm_f32le'].map(filmOf('mov', 'mpeg4')),
  ...['libmp3lame', 'mp2', 'ac3', 'eac3', 'libvorbis', 'alac', 'wavpack', 'tta', 'pcm_s24le'].map(
    filmOf('mkv', 'mpeg4'),
  ),
  ...['libvorbis'].map(filmOf('webm', 'libvpx')),
  ...['pcm_s16le'].map(filmOf('mxf', 'mpeg2video')),
  ...['mp2', 'libmp3lame', 'libopus', 's302m'].map(filmOf('ts', 'mpeg2video')),
  ...['aac', 'eac3', 'mp2'].map(filmOf('m2ts', 'libx264')),
  ...['mp2', 'ac3', 'aac', 'pcm_s16le', 'pcm_s24le'].map(filmOf('avi', 'mpeg4')),
  ...['libmp3lame'].map(filmOf('flv', 'flv1')),
  ...['aac'].map(filmOf('3g2', 'mpeg4')),
  ...['libmp3lame'].map(filmOf('mpg', 'mpeg2video')),
  ...['libmp3lame', 'aac', 'ac3', 'mp2', 'pcm_s16le', 'wmav1'].map(filmOf('wmv', 'wmv2')),
  ...['libmp3lame', 'ac3', 'pcm_s24le', 'pcm_f32le'].map(filmOf('wav', '')),
  ...['alac', 'ac3'].map(filmOf('m4a', '')),
  ...['flac'].map(filmOf('ogg', '')),
  ...['pcm_s24be', 'pcm_f32be'].map(filmOf('aiff', '')),
  ...['pcm_s16be', 'alac', 'libopus'].map(filmOf('caf', '')),
  ...['pcm_s16le'].map(filmOf('w64', '')),
  ...['pcm_s16be'].map(filmOf('au', '')),
  ...['wavpack'].map(filmOf('wv', '')),
  ...['tta'].map(filmOf('tta', '')),
  ...['aac'].map(filmOf('aac', '')),
  ...['mp2'].map(filmOf('mp2', '')),
]

function filmOf(container: string, video: string) {
  return (audio: string): Pair => [container, video, audio]
}

const LOSSLESS = /^(pcm_|flac|alac|wavpack|tta|s302m)/

describe('sound lies against picture as it did, heard with plain ffmpeg', () => {
  const folder = folderOfTests()

  const pairs = process.env.VOXMUX_SOAK ? [...COMMON, ...RARE] : COMMON

  it('is heard to the sample where it is moved', async () => {
    const [path, late] = [folder.file('here.mov'), folder.file('late.mov')]
    await ffmpeg(...film, ...stereo, '-c:v', 'mpeg4', '-c:a', 'pcm_s16le', path)
    const again = ['-itsoffset', '0.01', '-i', path, '-map', '0:v', '-map', '1:a', '-c', 'copy']
    await ffmpeg('-i', path, ...again, '-movie_timescale', '48000', late)
    expect(await soundMoved(path, late)).toEqual([480, 480, 480])
  })

  it.each(pairs)('.%s (%s) with %s', async (container, video, audio) => {
    const path = folder.file(`${video}-${audio}.${container}`)
    const isH264 = video === 'libx264'
    const sources = video === '' ? onlySound() : [...film, ...stereo, '-c:v', video, '-bf', isH264 ? '2' : '0']
    await ffmpeg(...sources, '-c:a', audio, '-strict', '-2', ...(container === 'mpg' ? ['-f', 'vob'] : []), path)
    const { plan, output } = await replaceVoice(path, folder.file(`out-${video}-${audio}.${container}`))
    expect(plan.container).toBe(container)
    const most = LOSSLESS.test(audio) ? 0 : 48
    const moved = await soundMoved(path, output)
    expect(
      moved.filter((samples) => !(Math.abs(samples) <= most)),
      `moved by ${moved}`,
    ).toEqual([])
  })
})
