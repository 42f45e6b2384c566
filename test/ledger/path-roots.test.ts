import { describe, expect, it } from 'vitest'
import { PathRoots } from '../../src/ledger/index.js'

const posix = new PathRoots([
  { store: 'nas:', here: '/mnt/nas' },
  { store: 'fast:', here: '/mnt/nas/fast/' },
])
const windows = new PathRoots([{ store: 'nas:', here: 'Z:\\' }])

describe('paths of one share on several machines', () => {
  it.each([
    [posix, '/mnt/nas/in/clip.mov', 'nas:/in/clip.mov'],
    [posix, '/mnt/nas', 'nas:'],
    [posix, '/mnt/nas/out/', 'nas:/out/'],
    [posix, '/mnt/nas/fast/a.wav', 'fast:/a.wav'],
    [posix, '/mnt/nasty/clip.mov', '/mnt/nasty/clip.mov'],
    [posix, '/home/me/clip.mov', '/home/me/clip.mov'],
    [windows, 'Z:\\in\\clip.mov', 'nas:/in/clip.mov'],
    [windows, 'z:\\in\\Ünï\\clip.mov', 'nas:/in/Ünï/clip.mov'],
    [windows, 'C:\\in\\clip.mov', 'C:\\in\\clip.mov'],
  ])('writes %# into the store under its name', (roots, here, stored) => {
    expect(roots.toStore(here)).toBe(stored)
  })

  it.each([
    [posix, 'nas:/in/clip.mov', '/mnt/nas/in/clip.mov'],
    [posix, 'nas:', '/mnt/nas'],
    [posix, 'fast:/a.wav', '/mnt/nas/fast/a.wav'],
    [windows, 'nas:/in/clip.mov', 'Z:\\in\\clip.mov'],
    [windows, 'nas:', 'Z:\\'],
    [windows, 'other:/in/clip.mov', 'other:/in/clip.mov'],
    [posix, 'https://host/clip.mov', 'https://host/clip.mov'],
    [posix, 'C:/in/clip.mov', 'C:/in/clip.mov'],
  ])('reads %# as this machine has it', (roots, stored, here) => {
    expect(roots.toHere(stored)).toBe(here)
  })
})
