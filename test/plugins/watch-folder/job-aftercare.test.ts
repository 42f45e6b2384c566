import { describe, expect, it } from 'vitest'
import { aftercareData, aftercareOf } from '../../../plugins/watch-folder/intake/job-aftercare.js'
import { takenData } from '../../../plugins/watch-folder/intake/taken-file.js'

const folder = {
  ...{ group: '/nas/in', path: '/nas/in', out: '/nas/out', failed: '/nas/failed', done: '/nas/done' },
  ...{ source: 'move' as const, after: { command: ['/bin/mail'], webhook: 'https://mam.example/' } },
}
const dataOf = (path: string) => ({
  ...takenData({ path, sizeBytes: 1, mtimeNs: 1n, contentId: 'x' }),
  aftercare: aftercareData(folder),
})
const read = (path: string, input: string) => aftercareOf({ group: '/nas/in', input, data: dataOf(path) })

describe('the aftercare in a job', () => {
  it('has the places and the webhook of the folder, and never its command', () => {
    expect(JSON.stringify(dataOf('a.mov'))).not.toContain('/bin/mail')
    expect(read('reel 1/a.mov', '/nas/in/reel 1/a.mov')).toEqual({
      folder: { ...folder, after: { webhook: 'https://mam.example/' } },
      hasCommand: true,
    })
  })

  it('has the marker of the folder, which cannot lead to another place', () => {
    const marked = (marker: string) => {
      const data = { ...dataOf('a.mov'), aftercare: aftercareData({ ...folder, filter: { marker } }) }
      return aftercareOf({ group: '/nas/in', input: '/nas/in/a.mov', data })?.folder.filter
    }
    expect(marked('{name}.done')).toEqual({ marker: '{name}.done' })
    expect(marked('../{name}')).toBeUndefined()
  })

  it.each([
    ['another file than the input', 'b.mov', '/nas/in/a.mov'],
    ['a file outside of the folder', '../a.mov', '/nas/a.mov'],
    ['a way out and back in', 'x/../a.mov', '/nas/in/a.mov'],
  ])('is not read for %s', (_, path, input) => {
    expect(read(path, input)).toBeNull()
  })

  it('is absent in a job of an earlier version', () => {
    const data = takenData({ path: 'a.mov', sizeBytes: 1, mtimeNs: 1n, contentId: 'x' })
    expect(aftercareOf({ group: '/nas/in', input: '/nas/in/a.mov', data })).toBeNull()
  })
})
