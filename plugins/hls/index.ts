/** HLS packages for video on demand: the voice of their renditions of sound regenerated, everything else untouched. */
export { type HlsFile, type HlsResult, type RegenerateHlsOptions, regenerateHls } from './regenerate-hls.js'
