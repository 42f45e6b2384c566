import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { JobBench } from '../../helpers/job-bench.js'
import { clip, external, timeline, timeRange, track } from './otio-file.js'

const run = promisify(execFile)

/** Half a second of a recording, and of one that is not there. */
export const cutOf = (...addresses: readonly string[]) =>
  timeline([
    track(
      'Audio',
      addresses.map((address) => clip('room', external(address), timeRange(24_000, 24_000, 48_000))),
    ),
  ])

/** Makes a bundle as OTIO's own library writes it: media stored, the timeline deflated. Made by Python's zipfile. */
export async function otioArchive(
  { folder }: Pick<JobBench, 'folder'>,
  name: string,
  text: string,
  media: Readonly<Record<string, string>>,
): Promise<string> {
  const made = folder.file(name)
  await writeFile(folder.file('content.otio'), text)
  const script = `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as made:
    for entry, path in json.loads(sys.argv[3]).items(): made.write(path, entry, zipfile.ZIP_STORED)
    made.write(sys.argv[2], 'content.otio', zipfile.ZIP_DEFLATED)
    made.writestr('version.txt', '1.0.0')`
  await run('python3', ['-c', script, made, folder.file('content.otio'), JSON.stringify(media)])
  await rm(folder.file('content.otio'))
  return made
}
