/** Variables that a media tool needs to start and to find its libraries and temp folder. All others are withheld. */
const PASSED_ON = [
  'PATH',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'windir',
] as const

/**
 * The environment of a child that reads untrusted files. It has no credentials, proxies or ffmpeg report settings, and
 * a plain locale, so that messages can be recognised.
 */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const kept = PASSED_ON.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(kept), LC_ALL: 'C', AV_LOG_FORCE_NOCOLOR: '1' }
}
