/** A piece of source that is put back as it was, or as it must not be. */
interface Change {
  /** Within the repository. */
  readonly file: string
  /** Stands there exactly once. */
  readonly whole: string
  readonly broken: string
}

/** A defect that voxmux had or could have. */
export interface Defect {
  readonly name: string
  /** True if 200 months break no promise, for example because a retry follows the one odd answer. */
  readonly isHidden?: true
  readonly changes: readonly Change[]
}

const STEPS = 'src/pipeline/voice/voice-steps.ts'
const START = 'src/pipeline/voice/start-voice.ts'

/** Each is put back alone: `npm run simulate -- --defects`. */
export const DEFECTS: readonly Defect[] = [
  {
    name: 'a bad download is cached for ever',
    changes: [
      {
        file: STEPS,
        whole:
          '      if (!(error instanceof VerificationError)) throw error\n      return this.#reject(error)\n    }\n',
        broken:
          '      await this.#context.cache.put(this.#held.voice.key, audioPath)\n      await this.#held.advance({ status: "cached", path: audioPath })\n      throw error\n    }\n',
      },
      {
        file: STEPS,
        whole:
          '      if (!(error instanceof VerificationError) || KEPT.has(error.code)) throw error\n      this.#note(`The cached',
        broken: '      if (error) throw error\n      this.#note(`The cached',
      },
    ],
  },
  {
    name: 'one odd entry makes a whole status unreadable',
    isHidden: true,
    changes: [
      {
        file: 'src/client/file-status.ts',
        whole: 'export const statusListSchema = z.array(z.unknown())',
        broken: `export const statusListSchema = z.array(
          z.strictObject({ id: z.string(), status: processingStateSchema, errorCode: z.number(), progress: z.number().max(100) }),
        )`,
      },
    ],
  },
  {
    name: 'one 404 after Succeeded costs a second payment',
    isHidden: true,
    changes: [
      {
        file: 'src/client/transfer/output-link.ts',
        whole: 'if (!isNotFound(thrown)) throw thrown',
        broken: 'throw thrown',
      },
    ],
  },
  {
    name: 'an upload link is measured by the clock of this machine',
    changes: [
      {
        file: 'src/client/transfer/upload-file.ts',
        whole: "    // Ignores the link's expiry: only storage's clock counts, and this machine's may be wrong.\n",
        broken:
          "    if (registered.file_upload_expiry * 1000 <= Date.now()) await tries.requireStored({ status: 403, headers: {}, text: '' }, async () => undefined)\n",
      },
    ],
  },
  {
    name: 'a lifetime of a token that is text is refused',
    isHidden: true,
    changes: [
      {
        file: 'src/client/token-provider.ts',
        whole: 'z.union([z.number(), z.string().trim().regex(/^\\d+$/).transform(Number)], {',
        broken: 'z.number({',
      },
    ],
  },
  {
    name: 'a byte order mark is refused',
    isHidden: true,
    changes: [
      {
        file: 'src/client/exchange-json.ts',
        whole: "JSON.parse(text.replace(/^\\uFEFF/, ''))",
        broken: 'JSON.parse(text)',
      },
    ],
  },
  {
    name: 'a watched folder is fed its own outputs',
    changes: [
      {
        file: 'plugins/watch-folder/candidates/candidate-judge.ts',
        whole: 'if (await likelyReceipt(',
        broken: 'if (signal.aborted && await likelyReceipt(',
      },
      {
        file: 'src/pipeline/job/output-as-input.ts',
        whole: 'if (settings.force || isWebAddress(input)) return null',
        broken: 'if (settings || isWebAddress(input)) return null',
      },
    ],
  },
  {
    name: '`voxmux *.mp4` is fed its own outputs',
    changes: [
      {
        file: 'src/pipeline/job/output-as-input.ts',
        whole: 'if (settings.force || isWebAddress(input)) return null',
        broken: 'if (settings || isWebAddress(input)) return null',
      },
    ],
  },
  {
    name: 'a retry uses the settings of before',
    changes: [
      {
        file: 'src/pipeline/queue/retry-job.ts',
        whole: 'const present = isUnfinished ? settings : undefined',
        broken: 'const present = isUnfinished ? undefined : undefined',
      },
    ],
  },
  {
    name: 'a film that is replaced in work is published with the voice of before',
    changes: [
      {
        file: 'src/pipeline/input-guard.ts',
        whole: 'if (now.file === first.file) return',
        broken: 'if (now) return',
      },
    ],
  },
  {
    name: 'a start is repeated without asking the status',
    changes: [
      {
        file: 'src/client/start-once.ts',
        whole:
          "  const status = await startedStatus(file)\n  if (status) return { fileId, how: 'found-started', status }\n  try {",
        broken: '  try {',
      },
    ],
  },
  {
    name: 'the intent to start is written down after the start',
    changes: [
      {
        file: START,
        whole: "    await this.#held.advance({ status: 'starting', paidSec: this.#request.sec })\n",
        broken: '',
      },
      {
        file: START,
        whole:
          "      await this.#requireProof(await client.startOnce(fileId, await this.#options(), this.#call()))\n      return 'paid-now'\n",
        broken:
          "      await this.#requireProof(await client.startOnce(fileId, await this.#options(), this.#call()))\n      await this.#held.advance({ status: 'starting', paidSec: this.#request.sec })\n      return 'paid-now'\n",
      },
    ],
  },
  {
    name: 'seconds are paid for without a reservation',
    changes: [
      {
        file: START,
        whole: '    const client = await this.#context.client()\n    await this.#reserve(fileId)\n',
        broken: '    const client = await this.#context.client()\n',
      },
    ],
  },
  {
    name: 'an output gets its name before its bytes are on the disk',
    isHidden: true,
    changes: [{ file: 'src/pipeline/output/publish.ts', whole: '  await syncFile(part)\n', broken: '' }],
  },
  {
    name: 'an output replaces what has its name',
    isHidden: true,
    changes: [
      {
        file: 'src/pipeline/output/publish.ts',
        whole: 'const method = replace ? await replaceWith(part, output)',
        broken: 'const method = output ? await replaceWith(part, output)',
      },
    ],
  },
  {
    name: 'a failed start is never released',
    isHidden: true,
    changes: [
      {
        file: START,
        whole:
          "      await this.#context.spending.release(chargeId(this.#held.voice.key, fileId))\n      return 'not-there'",
        broken: "      return 'not-there'",
      },
    ],
  },
]
