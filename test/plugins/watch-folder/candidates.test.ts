import { expect, it } from 'vitest'
import { Candidates } from '../../../plugins/watch-folder/candidates/candidates.js'
import type { FileFacts } from '../../../plugins/watch-folder/candidates/file-facts.js'

const FILES = 20_000
const JUDGE_MS = 600

const facts: FileFacts = { sizeBytes: 60, allocatedBytes: 4096, mtimeNs: 1n, ctimeNs: 1n, dev: 1n, ino: 1n }

it('offers every settled file while there is room, long before its next check', () => {
  const candidates = new Candidates(JUDGE_MS)
  for (const nowMs of [0, JUDGE_MS]) {
    for (let file = 0; file < FILES; file++) candidates.see(`clip-${file}.wav`, facts, nowMs)
    if (nowMs === 0) expect([...candidates.settled(nowMs)]).toEqual([])
  }
  const nowMs = JUDGE_MS + 100
  const [first, second] = candidates.settled(nowMs)
  if (first) first.isBeingJudged = true
  if (second) second.judgeAtMs = nowMs + 1

  expect([...candidates.due(nowMs)]).toEqual([])
  expect([...candidates.settled(nowMs)]).toHaveLength(FILES - 2)
  expect([first?.path, second?.path]).toEqual(['clip-0.wav', 'clip-1.wav'])

  candidates.see('clip-5.wav', { ...facts, sizeBytes: 61 }, nowMs)
  expect([...candidates.settled(nowMs)]).toHaveLength(FILES - 3)
})
