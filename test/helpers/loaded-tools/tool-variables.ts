/** The variables that name the tools of this run, for a command that gets an environment of its own. */
export function toolVariables(): Readonly<Record<string, string>> {
  const { VOXMUX_FFMPEG, VOXMUX_FFPROBE } = process.env
  return {
    ...(VOXMUX_FFMPEG === undefined ? {} : { VOXMUX_FFMPEG }),
    ...(VOXMUX_FFPROBE === undefined ? {} : { VOXMUX_FFPROBE }),
  }
}
