import { posix } from 'node:path'

const WANTED: readonly RegExp[] = [
  /^package\.json$/,
  /^README\.md$/,
  /^LICENSE$/,
  /^NOTICE$/,
  /^CHANGELOG\.md$/,
  /^docs\/one-file\.md$/,
  /^docs\/voxmux\.1$/,
  /^dist\/src\/index\.js$/,
  /^dist\/src\/index\.d\.ts$/,
  /^dist\/src\/service\/index\.js$/,
  /^dist\/src\/service\/index\.d\.ts$/,
  /^dist\/src\/cli\/main\.js$/,
  /^dist\/plugins\/script-step\/index\.(js|d\.ts)$/,
  /^plugins\/script-step\/examples\/Makefile$/,
  /^plugins\/watch-folder\/dashboard\/page\/index\.html$/,
  /^presets\/transparent\.json$/,
  /^plugins\/watch-folder\/deploy\/voxmux-watch\.service$/,
  /^plugins\/watch-folder\/deploy\/Dockerfile$/,
  /^shell\/spool-job\.sh$/,
  /^plugins\/mediamtx\/segment-complete\.sh$/,
  /^plugins\/blender\/voxmux_blender\.py$/,
  /^plugins\/tdarr\/flow-plugin\.cjs$/,
  /^plugins\/obs\/voxmux_obs\.py$/,
  /^plugins\/mcp\/(SKILL\.md|llms\.txt)$/,
]
const ALLOWED: readonly RegExp[] = [
  /^docs\/([\w-]+\.(md|1)|demo\.svg|step-job\.schema\.json)$/,
  /^(fixtures|plugins)\/README\.md$/,
  /^(package\.json|README\.md|LICENSE|NOTICE|CHANGELOG\.md)$/,
  /^dist\/.+\.(js|d\.ts)$/,
  /^dist\/.+\/index\.(cjs|d\.cts)$/,
  /^plugins\/watch-folder\/dashboard\/page\/[\w-]+\.(html|css|svg|js)$/,
  /^presets\/.+\.json$/,
  /^plugins\/watch-folder\/deploy\/(Dockerfile|[\w.-]+\.(service|plist|ps1|yaml|json))$/,
  /^plugins\/watch-folder\/deploy\/farm\/[\w.-]+$/,
  /^shell\/.+\.(sh|conf)$/,
  /^plugins\/[^/]+\/([^/]+\.(md|sh|py|cjs|d\.cts)|plugin\.json)$/,
  /^plugins\/mcp\/llms\.txt$/,
  /^plugins\/[^/]+\/examples\/[\w.-]+$/,
]

/**
 * What is wrong with the list of files in a tarball: a sentence for each that is missing or has no business there.
 *
 * @param paths relative to the package, as `npm pack --json` lists them
 */
export function checkContents(paths: readonly string[]): readonly string[] {
  const missing = WANTED.filter((pattern) => !paths.some((path) => pattern.test(path)))
  const strange = paths.filter((path) => !ALLOWED.some((pattern) => pattern.test(path)))
  return [
    ...missing.map((pattern) => `nothing matches ${pattern.source}`),
    ...strange.map((path) => `${path} should not be packed`),
  ]
}

/**
 * The relative links of packed pages that lead to nothing in the package.
 *
 * @param read the text of a packed file
 */
export function brokenLinks(paths: readonly string[], read: (path: string) => string): readonly string[] {
  return paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) =>
      [...read(page).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)/g)].flatMap(([, link = '']) => {
        const target = posix.join(posix.dirname(page), link)
        const isThere = paths.some((path) => path === target || path.startsWith(`${target}/`))
        return isThere ? [] : [`${page} links to ${link}, which is not packed`]
      }),
    )
}
