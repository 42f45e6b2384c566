import { inject } from 'vitest'
import { keepToolFactsIn } from '../../../src/media/ffmpeg/tool-memory.js'

// Each process would ask ffmpeg and ffprobe for their versions, and measure each encoder. A run asks once.
keepToolFactsIn(inject('toolFacts'))
