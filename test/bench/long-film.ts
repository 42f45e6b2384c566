import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const INTERVIEW = fileURLToPath(new URL('../../fixtures/interview.mp4', import.meta.url))
const PIECE_SEC = 20

/** Makes an mp4 of 1080p H.264 (about 4 Mbit/s) with the interview's sound, so many minutes long; returns its path. */
export function makeLongFilm(dir: string, minutes: number): string {
  const piece = join(dir, 'piece.mp4')
  const film = join(dir, `film-${minutes}.mp4`)
  const video = [
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-b:v',
    '4M',
    '-maxrate',
    '4M',
    '-bufsize',
    '8M',
    '-g',
    '50',
  ]
  ffmpeg([
    ...['-f', 'lavfi', '-i', `testsrc2=s=1920x1080:r=25,noise=alls=12:allf=t`, '-i', INTERVIEW],
    ...[
      '-map',
      '0:v',
      '-map',
      '1:a',
      '-map_chapters',
      '-1',
      '-t',
      String(PIECE_SEC),
      '-pix_fmt',
      'yuv420p',
      ...video,
      '-c:a',
      'copy',
      piece,
    ],
  ])
  // A piece repeated packet for packet: encoding an hour and a half would take longer than what is measured.
  ffmpeg([
    ...['-stream_loop', String(Math.round((minutes * 60) / PIECE_SEC) - 1), '-i', piece],
    ...['-map', '0:v', '-map', '0:a', '-map_chapters', '-1', '-c', 'copy', '-movflags', '+faststart', film],
  ])
  rmSync(piece)
  return film
}

function ffmpeg(args: readonly string[]): void {
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
}
