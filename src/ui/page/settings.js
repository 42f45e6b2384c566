import { byId, make, setText } from './elements.js'

const CHANNELS = [
  ['auto', 'All'],
  ['center', 'Only the dialogue channel; all others keep their sound'],
  ['each', 'Every channel, as a file of its own'],
  ['downmix', 'A stereo downmix'],
]

/**
 * The settings of a job.
 *
 * @param {object} start facts of the server
 * @param {() => void} changed called after every change
 */
export function startSettings(start, changed) {
  const preset = byId('preset')
  const track = byId('track')
  const channels = byId('channels')
  const mix = byId('mix')
  const bed = byId('bed')
  let tracks = []
  preset.replaceChildren(...start.presets.map(({ name, value }) => make('option', { value }, name)))
  preset.value = start.presets.find(({ name }) => name === start.preset)?.value ?? preset.value
  channels.replaceChildren(...CHANNELS.map(([value, label]) => make('option', { value }, label)))
  mix.value = String(start.mix)
  bed.value = start.bed
  byId('settings-form').addEventListener('submit', (event) => event.preventDefault())
  byId('settings-form').addEventListener('change', () => {
    explain()
    changed()
  })
  mix.addEventListener('input', explain)
  explain()

  function explain() {
    const chosen = start.presets.find(({ value }) => value === preset.value)
    setText(byId('preset-words'), chosen?.description ?? '')
    setText(byId('mix-words'), `${mix.value} % of the regenerated voice; the rest is the original`)
    const heard = track.value === '' ? tracks : tracks.filter(({ index }) => String(index) === track.value)
    byId('channels-field').hidden = !heard.some((one) => one.channels > 2)
  }

  return {
    /** The name of one file's output, and the leave to replace it, are not those of the next file. */
    clearOutput() {
      byId('output').value = ''
      byId('force').checked = false
    },
    /** Shows the tracks of a file, and chooses none if there are several. */
    showTracks(found) {
      tracks = found
      const all = { value: 'all', label: 'All tracks' }
      const options = found.length > 1 ? [{ value: '', label: 'Choose a track' }, ...found, all] : found
      track.replaceChildren(
        ...options.map(({ index, value = String(index), label }) => make('option', { value }, label)),
      )
      byId('track-field').hidden = found.length < 2
      channels.value = 'auto'
      explain()
    },
    /** Place of the track whose sound is shown. */
    get shownTrack() {
      return /^\d+$/.test(track.value) ? Number(track.value) : 0
    },
    /** Changes with the choices that the pre-check judges. */
    get checkKey() {
      return `${track.value} ${channels.value}`
    },
    /** The settings as a job of `voxmux step` has them. */
    get values() {
      const several = tracks.length > 1 && track.value !== ''
      const output = byId('output').value.trim()
      return {
        ...(preset.value && { preset: preset.value }),
        ...(several && { track: track.value === 'all' ? 'all' : Number(track.value) }),
        ...(!byId('channels-field').hidden && channels.value !== 'auto' && { channels: channels.value }),
        ...(Number(mix.value) !== start.mix && { mix: Number(mix.value) }),
        ...(bed.value !== start.bed && { bed: bed.value }),
        ...(byId('keep-original').checked && { keepOriginal: true }),
        ...(byId('add-track').checked && { addTrack: true }),
        ...(byId('force').checked && { force: true }),
        ...(output !== '' && { output }),
      }
    },
  }
}
