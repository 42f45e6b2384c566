import { delimiter } from 'node:path'

/** Lets a test file with a process of its own start ffmpeg itself, because it looks at ffmpeg's process. */
export function useBareTools(): void {
  const { PATH = '', LOADED_TOOLS: folder } = process.env
  if (!folder) return
  const others = PATH.split(delimiter).filter((dir) => dir !== folder)
  Object.assign(process.env, { PATH: others.join(delimiter), VOXMUX_FFMPEG: '', VOXMUX_FFPROBE: '' })
}
