import { z } from 'zod'
import { printedBy } from '../../ffmpeg/tool-parts.js'
import { measuredOnce } from './encoder-priming.js'

/**
 * Options that choose how ffmpeg's AAC encoder spends its bits. `fast` needs less time than `twoloop`, the default of
 * ffmpeg 5.1. Its noise is lower under a voice (`npm run bench aac-search`). Any other default is kept.
 */
export function aacCoderOptions(): Promise<readonly string[]> {
  return measuredOnce(['aac coder'], z.array(z.string()), async () => {
    const help = await printedBy(['-h', 'encoder=aac'])
    return /-aac_coder\b.*default twoloop/.test(help) && /^\s+fast\s/m.test(help) ? ['-aac_coder:{s}', 'fast'] : []
  })
}
