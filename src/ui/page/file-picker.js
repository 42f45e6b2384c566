import { toast } from './announce.js'
import { ask, change } from './ask.js'
import { byId, make, setText } from './elements.js'
import { bytes } from './format.js'

/**
 * Connects the three ways to choose a file: its path, the folders of this computer, and a drop.
 *
 * @param {(file: { path: string, isCopy: boolean }) => void} choose
 */
export function startPicker(choose) {
  const path = byId('path')
  byId('file-form').addEventListener('submit', (event) => {
    event.preventDefault()
    choose({ path: path.value.trim(), isCopy: false })
  })
  const browser = byId('browser')
  browser.addEventListener('toggle', () => browser.open && byId('folder-list').children.length === 0 && list(''))
  byId('dropped').addEventListener('change', ({ target }) => target.files[0] && copy(target.files[0], choose))
  const drop = byId('drop')
  for (const name of ['dragenter', 'dragover', 'dragleave', 'drop'])
    drop.addEventListener(name, (event) => {
      event.preventDefault()
      drop.dataset.over = String(name === 'dragenter' || name === 'dragover')
    })
  drop.addEventListener('drop', ({ dataTransfer }) => {
    const [file] = dataTransfer.files
    if (file) void copy(file, choose)
  })

  async function list(folder) {
    try {
      const found = await ask(`api/folder?${new URLSearchParams({ path: folder })}`)
      setText(byId('folder-path'), found.path)
      const above =
        found.parent === null ? [] : [{ name: '..', path: found.parent, kind: 'folder', label: 'The folder above ' }]
      const rows = [...above, ...found.entries].map((entry) => make('li', {}, entryButton(entry)))
      if (found.hasMore) rows.push(make('li.quiet', {}, 'The folder has more entries. Type the path instead.'))
      byId('folder-list').replaceChildren(...rows)
      if (folder !== '') byId('folder-list').querySelector('button')?.focus()
    } catch (fault) {
      toast(fault.message, 'bad')
    }
  }

  function entryButton({ name, path: target, kind, sizeBytes, label }) {
    const open = () => {
      if (kind === 'folder') return void list(target)
      path.value = target
      choose({ path: target, isCopy: false })
    }
    const size = sizeBytes === null || sizeBytes === undefined ? null : make('span.quiet', {}, bytes(sizeBytes))
    return make(
      'button',
      { type: 'button', onclick: open },
      make('span.visually-hidden', {}, label ?? (kind === 'folder' ? 'Folder ' : 'File ')),
      make('bdi', {}, kind === 'folder' ? `${name}/` : name),
      size,
    )
  }
}

async function copy(file, choose) {
  const words = byId('copying')
  setText(words, `Copying ${file.name} (${bytes(file.size)})…`)
  try {
    const { path } = await change(`api/upload?${new URLSearchParams({ name: file.name })}`, file)
    byId('path').value = path
    choose({ path, isCopy: true })
  } catch (fault) {
    toast(fault.message, 'bad')
  } finally {
    setText(words, '')
  }
}
