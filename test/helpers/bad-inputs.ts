import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import type { FaultServer } from './fault-server.js'
import type { Workshop } from './workshop.js'

/** A foreseeable fault: how it is brought about, and what the person must get. */
export interface BadInput {
  readonly name: string
  /** Lays things out and returns the arguments of `voxmux run`. */
  readonly prepare: (workshop: Workshop, server: FaultServer) => readonly string[]
  readonly exitCode: number
  readonly code: string
  /** The service's file error code, where the fault is one. */
  readonly errorCode?: number
  /** What the sentence must name. */
  readonly says: RegExp
  /** Environment of the command besides the working service's. */
  readonly env?: Readonly<Record<string, string>>
  /** Use the service that voxmux carries instead of the test's. */
  readonly embedded?: true
}

const speech = (...more: string[]): BadInput['prepare'] => {
  return ({ take }) => [take('speech.wav'), ...more]
}

/** Every kind of bad input that can be brought about anywhere. */
export const BAD_INPUTS: readonly BadInput[] = [
  {
    name: 'a missing file',
    prepare: ({ path }) => [path('gone.mp4')],
    exitCode: 2,
    code: 'ERR_INPUT_MISSING',
    says: /gone\.mp4/,
  },
  {
    name: 'a name that is not UTF-8',
    prepare({ path }) {
      writeFileSync(Buffer.from(path('caf\xe9.wav'), 'latin1'), 'RIFF')
      return [path('caf\ufffd.wav')]
    },
    exitCode: 2,
    code: 'ERR_NAME_NOT_UTF8',
    says: /not UTF-8.*mv -- \$'caf\\xe9\.wav' \$'caf_\.wav'/s,
  },
  {
    name: 'a missing file with an odd name',
    prepare: ({ path }) => [path('caf\ufffd.wav')],
    exitCode: 2,
    code: 'ERR_INPUT_MISSING',
    says: /does not exist/,
  },
  {
    name: 'a folder without media',
    prepare({ path }) {
      mkdirSync(path('rushes'))
      return [path('rushes')]
    },
    exitCode: 2,
    code: 'ERR_FOLDER_WITHOUT_MEDIA',
    says: /rushes/,
  },
  {
    name: 'an empty file',
    prepare: ({ take }) => [take('empty.mp4')],
    exitCode: 5,
    code: 'ERR_UNREADABLE',
    errorCode: -2,
    says: /empty\.mp4/,
  },
  {
    name: 'text named .mp4',
    prepare: ({ take }) => [take('text.mp4')],
    exitCode: 5,
    code: 'ERR_UNREADABLE',
    errorCode: -2,
    says: /text\.mp4/,
  },
  {
    name: 'a truncated mp4',
    prepare: ({ take }) => [take('truncated.mp4')],
    exitCode: 5,
    code: 'ERR_UNREADABLE',
    errorCode: -2,
    says: /truncated\.mp4/,
  },
  {
    name: 'a video with no audio',
    prepare: ({ take }) => [take('no-audio.mp4')],
    exitCode: 5,
    code: 'ERR_NO_AUDIO',
    errorCode: -18,
    says: /no audio|no sound/i,
  },
  {
    name: 'two audio tracks',
    prepare: ({ take }) => [take('two-tracks.mkv')],
    exitCode: 5,
    code: 'ERR_SEVERAL_TRACKS',
    errorCode: -8,
    says: /--track/,
  },
  {
    name: '5.1',
    prepare: ({ take }) => [take('surround.mkv')],
    exitCode: 5,
    code: 'ERR_TOO_MANY_CHANNELS',
    errorCode: -4,
    says: /--channels center/,
  },
  {
    name: 'a clip of 20 ms',
    prepare: ({ take }) => [take('blip.mp4')],
    exitCode: 5,
    code: 'ERR_TOO_SHORT',
    errorCode: -14,
    says: /short/i,
    embedded: true,
  },
  {
    name: 'a segment outside the file',
    prepare: speech('--segment', '100-200'),
    exitCode: 2,
    code: 'ERR_SEGMENT_OUTSIDE',
    says: /1:40.*after the end/,
  },
  {
    name: 'a segment that runs backwards',
    prepare: speech('--segment', '2-1'),
    exitCode: 2,
    code: 'ERR_SEGMENT_BACKWARDS',
    says: /ends before it begins/,
  },
  {
    name: 'a segment that is none',
    prepare: speech('--segment', 'chorus'),
    exitCode: 2,
    code: 'ERR_SEGMENT_SYNTAX',
    says: /chorus/,
  },
  {
    name: 'an unknown preset',
    prepare: speech('--preset', 'podcst'),
    exitCode: 2,
    code: 'ERR_PRESET_UNKNOWN',
    says: /podcast/,
  },
  {
    name: 'an unknown option',
    prepare: speech('--sgement', '1-2'),
    exitCode: 2,
    code: 'ERR_USAGE',
    says: /sgement/,
  },
  {
    name: 'a destination under a file',
    prepare: ({ take, path }) => [take('speech.wav'), '-o', `${path('speech.wav')}/out.wav`],
    exitCode: 2,
    code: 'ERR_OUTPUT_UNWRITABLE',
    says: /out\.wav|speech\.wav/,
  },
  {
    name: 'an output that exists and is not ours',
    prepare({ take, path }) {
      writeFileSync(path('speech.regen.wav'), 'dear to somebody')
      return [take('speech.wav')]
    },
    exitCode: 2,
    code: 'ERR_OUTPUT_EXISTS',
    says: /speech\.regen\.wav/,
  },
  {
    name: 'the input as output',
    prepare: ({ take, path }) => [take('speech.wav'), '-o', path('speech.wav'), '--force'],
    exitCode: 2,
    code: 'ERR_OUTPUT_IS_INPUT',
    says: /speech\.wav/,
  },
  {
    name: 'the file that the input is a link to as output',
    prepare({ take, path }) {
      const taken = take('speech.wav')
      symlinkSync(taken, path('link.wav'))
      return [path('link.wav'), '-o', taken, '--force']
    },
    exitCode: 2,
    code: 'ERR_OUTPUT_IS_INPUT',
    says: /link\.wav/,
  },
  {
    name: 'a pipe (as a device would be) as output',
    prepare({ take, path }) {
      execFileSync('mkfifo', [path('pipe.wav')])
      return [take('speech.wav'), '-o', path('pipe.wav'), '--force']
    },
    exitCode: 2,
    code: 'ERR_OUTPUT_EXISTS',
    says: /pipe\.wav is not a regular file/,
  },
  {
    name: 'wrong credentials',
    prepare: speech(),
    exitCode: 6,
    code: 'ERR_AUTH_FAILED',
    says: /credential|client|secret|key/i,
    env: { VOXMUX_CLIENT_SECRET: 'not-the-secret' },
  },
  {
    name: 'denied access',
    prepare(workshop, server) {
      server.fail('registerFile', { kind: 'status', status: 403 }, Number.POSITIVE_INFINITY)
      return speech()(workshop, server)
    },
    exitCode: 6,
    code: 'ERR_ACCESS_DENIED',
    says: /access/i,
  },
  {
    name: 'a service that is down',
    prepare: speech(),
    exitCode: 4,
    code: 'ERR_SERVICE_UNREACHABLE',
    says: /127\.0\.0\.1/,
    // Port 1 of loopback: nobody listens there, and the refusal comes at once.
    env: { VOXMUX_BASE_URL: 'http://127.0.0.1:1', VOXMUX_AUTH_URL: 'http://127.0.0.1:1/auth' },
  },
]
