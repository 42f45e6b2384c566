import { expect, it } from 'vitest'
import { parseRedisAddress } from '../../src/ledger/redis/redis-address.js'

const SENTINELS = { sentinels: [{ host: 's1', port: 26_379 }], name: 'main', db: 0 }

it.each([
  ['redis://jobs.example', { host: 'jobs.example', port: 6379, db: 0 }, 0],
  ['redis://me:p%40ss@h:7000/3', { host: 'h', port: 7000, username: 'me', password: 'p@ss', db: 3 }, 0],
  ['rediss://[::1]:7000?replicas=2', { host: '::1', port: 7000, db: 0, tls: {} }, 2],
  ['/run/redis.sock', { path: '/run/redis.sock' }, 0],
  ['redis://s1?sentinel=main', SENTINELS, 0],
  [
    'redis://:secret@s1:1/2?sentinel=main&also=s2,s3:2&replicas=1',
    {
      ...SENTINELS,
      sentinels: [
        { host: 's1', port: 1 },
        { host: 's2', port: 26_379 },
        { host: 's3', port: 2 },
      ],
      ...{ password: 'secret', db: 2 },
    },
    1,
  ],
] as const)('reads %s', (address, target, replicas) => {
  const parsed = parseRedisAddress(address)
  expect(parsed).toMatchObject({ target, replicas })
})

it.each([
  'http://jobs.example',
  'redis://',
  'redis://h/jobs',
  'redis://h?replicas=many',
  'redis://h?sentinel=main&also=:1',
  'redis://h?farm=a b',
  'redis://h?farm=',
])('refuses %s', (address) => {
  expect(() => parseRedisAddress(address)).toThrow(expect.objectContaining({ code: 'ERR_STORE_ADDRESS' }))
})
