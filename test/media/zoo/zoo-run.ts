import { decodePcm } from '../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../src/media/probe/probe.js'
import { verifyMux } from '../../../src/media/verify/verify-mux.js'
import { mux } from '../../../src/media/write/remux/mux.js'
import { type MuxPlan, planMux } from '../../../src/media/write/remux/mux-plan.js'

/** Lays the first sound of a file back as it was, as a service that changes nothing would have it, and verifies. */
export async function replaceVoice(
  path: string,
  output: string,
): Promise<{ readonly plan: MuxPlan; readonly output: string }> {
  const media = await probe(path)
  const plan = planMux(media, { replaced: [0] })
  const result = await mux(plan, new Map([[0, decodePcm(media, { audioIndex: 0 })]]), output)
  await verifyMux(plan, result, output, { level: 'full' })
  return { plan, output }
}
