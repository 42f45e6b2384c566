// A panel for Premiere (UXP). UXP starts no processes, so the panel writes jobs into a folder that the user chose.
// `voxmux worker --spool` takes them from there.
const { localFileSystem } = require('uxp').storage
const ppro = require('premierepro')

const SPOOL = 'voxmux-spool'
/** Outputs that are not imported yet. */
const waiting = new Set()
let count = 0

/** Asks for the spool folder. UXP lets the panel open it again by a token. */
async function chooseSpool() {
  const folder = await localFileSystem.getFolder()
  if (!folder) return 'No folder was chosen.'
  localStorage.setItem(SPOOL, await localFileSystem.createPersistentToken(folder))
  return `Jobs go to ${folder.nativePath}.`
}

/**
 * Writes a job for each selected clip of the project.
 *
 * @param {{ preset: string, addTrack: boolean }} settings
 */
async function queueSelected({ preset, addTrack }) {
  const token = localStorage.getItem(SPOOL)
  if (!token) return 'Choose the spool folder first.'
  const folder = await localFileSystem.getEntryForPersistentToken(token)
  const project = await ppro.Project.getActiveProject()
  const items = await (await ppro.ProjectUtils.getSelection(project)).getItems()
  const inputs = new Set()
  for (const item of items) {
    const path = await ppro.ClipProjectItem.cast(item)?.getMediaFilePath()
    if (path) inputs.add(path)
  }
  for (const input of inputs) {
    const output = regenerated(input)
    await writeJob(folder, { input, output, ...(preset && { preset }), ...(addTrack && { addTrack }) })
    waiting.add(output)
  }
  return inputs.size === 0 ? 'Select clips in the project panel.' : `Queued: ${inputs.size}.`
}

/** Imports the outputs that are there. Premiere reports which files it could import. */
async function importFinished() {
  const project = await ppro.Project.getActiveProject()
  let imported = 0
  for (const output of [...waiting]) {
    if (!(await project.importFiles([output], true))) continue
    waiting.delete(output)
    imported += 1
  }
  return `Imported: ${imported}. Not finished: ${waiting.size}.`
}

/**
 * The name of the output beside its input.
 *
 * @param {string} input
 */
function regenerated(input) {
  return input.replace(/(\.[^./\\]+)?$/, (extension) => `.regen${extension}`)
}

/**
 * Writes a job and then gives it its name, so that no worker reads half of it.
 *
 * @param {any} folder
 * @param {object} job
 */
async function writeJob(folder, job) {
  const name = `premiere-${Date.now()}-${count++}-${Math.random().toString(36).slice(2)}`
  const file = await folder.createFile(`${name}.part`, { overwrite: false })
  await file.write(JSON.stringify(job))
  await folder.renameEntry(file, `${name}.json`, { overwrite: false })
}

/** @param {string} id */
const field = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id))

/**
 * @param {string} id
 * @param {() => Promise<string>} action
 */
function onPress(id, action) {
  field(id).addEventListener('click', async () => {
    field('message').textContent = await action().catch((error) => `voxmux: ${error.message ?? error}`)
  })
}

document.addEventListener('DOMContentLoaded', () => {
  onPress('choose', chooseSpool)
  onPress('queue', () => queueSelected({ preset: field('preset').value.trim(), addTrack: field('add-track').checked }))
  onPress('import', importFinished)
})
