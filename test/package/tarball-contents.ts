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
  /^src\/ui\/page\/index\.html$/,
  /^src\/cli\/portal-page\/page\/index\.html$/,
  /^presets\/transparent\.json$/,
  /^plugins\/watch-folder\/deploy\/voxmux-watch\.service$/,
  /^plugins\/watch-folder\/deploy\/Dockerfile$/,
  /^shell\/spool-job\.sh$/,
  /^plugins\/mediamtx\/segment-complete\.sh$/,
  /^plugins\/blender\/voxmux_blender\.py$/,
  /^plugins\/tdarr\/flow-plugin\.cjs$/,
  /^plugins\/obs\/voxmux_obs\.py$/,
  /^plugins\/mcp\/(SKILL\.md|llms\.txt)$/,
  /^plugins\/premiere\/panel\.js$/,
  /^plugins\/unmanic\/info\.json$/,
]
const ALLOWED: readonly RegExp[] = [
  /^docs\/([\w-]+\.(md|1)|demo\.svg|ui\.png|step-job\.schema\.json)$/,
  /^(fixtures|plugins)\/README\.md$/,
  /^(package\.json|README\.md|LICENSE|NOTICE|CHANGELOG\.md)$/,
  /^dist\/.+\.(js|d\.ts)$/,
  /^dist\/.+\/index\.(cjs|d\.cts)$/,
  /^plugins\/watch-folder\/dashboard\/page\/[\w-]+\.(html|css|svg|js)$/,
  /^presets\/.+\.json$/,
  /^plugins\/watch-folder\/deploy\/(Dockerfile|[\w.-]+\.(service|plist|ps1|yaml|json))$/,
  /^plugins\/watch-folder\/deploy\/(farm|monitoring|notify)\/[\w.-]+$/,
  /^src\/(pages\/browser|ui\/page|cli\/portal-page\/page)\/[\w-]+\.(html|css|svg|js)$/,
  /^shell\/.+\.(sh|conf)$/,
  /^shell\/service\/(Caddyfile|[\w-]+\.(yaml|json|service))$/,
  /^plugins\/[^/]+\/[^/]+\.(md|sh|py|cjs|d\.cts)$/,
  /^plugins\/(premiere\/(index\.html|manifest\.json|panel\.js)|unmanic\/info\.json)$/,
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
 * The relative links of packed pages that lead to no file or to no heading of the package.
 *
 * @param read the text of a packed file
 */
export function brokenLinks(paths: readonly string[], read: (path: string) => string): readonly string[] {
  return paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) =>
      [...read(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)/g)].flatMap(([, link = '', anchor = '']) => {
        const target = link === '' ? page : posix.join(posix.dirname(page), link)
        const isThere = paths.some((path) => path === target || path.startsWith(`${target}/`))
        if (!isThere) return [`${page} links to ${link}, which is not packed`]
        if (anchor === '' || !target.endsWith('.md') || anchors(read(target)).has(anchor)) return []
        return [`${page} links to ${target}#${anchor}, which is no heading`]
      }),
    )
}

/** Names of a page's headings in links, as registries and code hosts write them. */
function anchors(page: string): ReadonlySet<string> {
  const headings = page.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.+)$/gm)
  return new Set(
    [...headings].map(([, text = '']) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}
