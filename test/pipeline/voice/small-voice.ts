import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { VerificationError } from '../../../src/core/errors.js'
import type { VoiceRequest } from '../../../src/pipeline/voice/voice-service.js'
import type { JobBench } from '../../helpers/job-bench.js'

/** A voice of a few bytes, which are no text: good regenerated audio is the same bytes. */
export async function smallVoice({ folder }: JobBench): Promise<{ request: VoiceRequest<string>; sent: string }> {
  const sent = `\0${randomBytes(3000).toString('hex')}`
  const path = folder.file('voice.bin')
  await writeFile(path, sent)
  const request: VoiceRequest<string> = {
    ...{ voiceHash: sent.slice(1, 65), model: 'regen_v1', outputType: null, sec: 3 },
    audioPath: folder.file(`${sent.slice(1, 17)}.bin`),
    source: { kind: 'upload', path, clientFileId: 'voice' },
    judge: async (audioPath) => {
      const answer = await readFile(audioPath, 'utf8')
      if (answer !== sent) throw new VerificationError('ERR_ANSWER_UNREADABLE', 'It is no voice.', { input: audioPath })
      return answer
    },
  }
  return { request, sent }
}

/** Serves the bytes of the last voice to a service that fetches them itself. @returns their address */
export async function addressOfVoice({ folder }: JobBench): Promise<string> {
  const site = createServer((_, response) => void createReadStream(folder.file('voice.bin')).pipe(response))
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void site.close())
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}/voice`
}
