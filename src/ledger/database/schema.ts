import type { Migration } from './database.js'

/**
 * A lane is the jobs of one group with one priority. Open ones may have a ready job, and the first of them has the next.
 * A claim closes a lane that it finds empty. This keeps its cost the same for one group and for ten thousand.
 */
const LANES = `
  CREATE TABLE lanes (
    grp TEXT NOT NULL,
    priority INTEGER NOT NULL,
    ready INTEGER NOT NULL,
    -- Number of the group's last turn. The one with the lowest is next.
    served INTEGER NOT NULL,
    -- The job that opened it.
    since TEXT NOT NULL,
    PRIMARY KEY (grp, priority)
  );
  CREATE INDEX lanes_next ON lanes (priority DESC, served, since) WHERE ready = 1;
  CREATE INDEX lanes_served ON lanes (served);

  -- Locked by whoever adds to the spending of a day.
  CREATE TABLE spending_days (day TEXT PRIMARY KEY);

  -- The last change by a holder. It is recognized when the change is repeated, because its answer was lost.
  ALTER TABLE jobs ADD COLUMN last_call TEXT;
  ALTER TABLE voices ADD COLUMN last_call TEXT;`

const OPEN_LANE = `
  INSERT INTO lanes (grp, priority, ready, served, since)
  VALUES (NEW.grp, NEW.priority, 1, coalesce((SELECT served FROM lanes WHERE grp = NEW.grp ORDER BY priority LIMIT 1), 0), NEW.id)
  ON CONFLICT (grp, priority) DO UPDATE SET ready = 1, since = excluded.since WHERE lanes.ready = 0;`

/** Schema of the ledger: jobs, voices, spending, learned limits. Only ever append a script. */
export const LEDGER_MIGRATIONS: readonly Migration[] = [
  `
  CREATE TABLE holders (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    start_ticks TEXT NOT NULL,
    UNIQUE (host, pid, start_ticks)
  );

  CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    grp TEXT NOT NULL,
    priority INTEGER NOT NULL,
    status TEXT NOT NULL,
    -- 1 where nobody holds the job, it has not ended and its time has come.
    ready INTEGER NOT NULL,
    not_before_ms INTEGER,
    attempts INTEGER NOT NULL,
    input TEXT NOT NULL,
    input_identity TEXT,
    output TEXT,
    recipe_hash TEXT NOT NULL,
    preset TEXT,
    state TEXT NOT NULL,
    error TEXT,
    receipt TEXT,
    published_sha256 TEXT,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    lease_token TEXT,
    lease_holder INTEGER REFERENCES holders (id),
    lease_expires_ms INTEGER
  );
  CREATE INDEX jobs_ready ON jobs (grp, priority DESC, id) WHERE ready = 1;
  CREATE INDEX jobs_delayed ON jobs (not_before_ms) WHERE not_before_ms IS NOT NULL;
  CREATE INDEX jobs_expiring ON jobs (lease_expires_ms) WHERE lease_token IS NOT NULL;
  CREATE INDEX jobs_held ON jobs (lease_holder) WHERE lease_holder IS NOT NULL;
  CREATE INDEX jobs_by_group ON jobs (grp, status, id);
  CREATE INDEX jobs_by_status ON jobs (status, id);
  CREATE INDEX jobs_by_input ON jobs (input, id);
  CREATE INDEX jobs_ended ON jobs (updated_ms) WHERE status IN ('done', 'skipped', 'rejected', 'failed');

  -- The turns that groups take: the one with the lowest number is next.
  CREATE TABLE turns (grp TEXT PRIMARY KEY, served INTEGER NOT NULL);
  CREATE INDEX turns_served ON turns (served);

  -- An empty group stands for all: '*' and the like may be names of folders.
  CREATE TABLE pauses (grp TEXT PRIMARY KEY, reason TEXT NOT NULL, since_ms INTEGER NOT NULL);

  -- What was sent and paid for, one row a voice: its hash, options and the service's identity.
  CREATE TABLE voices (
    key TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    cache_path TEXT,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    lease_token TEXT,
    lease_holder INTEGER REFERENCES holders (id),
    lease_expires_ms INTEGER
  );
  CREATE INDEX voices_expiring ON voices (lease_expires_ms) WHERE lease_token IS NOT NULL;
  CREATE INDEX voices_held ON voices (lease_holder) WHERE lease_holder IS NOT NULL;

  -- Every file id that a voice ever had, with how its processing ended.
  CREATE TABLE voice_attempts (
    key TEXT NOT NULL REFERENCES voices (key) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    file_id TEXT,
    status TEXT NOT NULL,
    error_code INTEGER,
    -- What a start of it costs; charged once it is known to have started.
    paid_sec REAL NOT NULL,
    charged INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    PRIMARY KEY (key, attempt)
  );
  CREATE INDEX voice_attempts_by_file ON voice_attempts (file_id) WHERE file_id IS NOT NULL;

  CREATE TABLE spending (
    id TEXT PRIMARY KEY,
    day TEXT NOT NULL,
    sec REAL NOT NULL,
    committed INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
  );
  CREATE INDEX spending_by_day ON spending (day, committed, sec);

  CREATE TABLE limits_learned (
    service TEXT NOT NULL,
    error_code INTEGER NOT NULL,
    property TEXT NOT NULL,
    relation TEXT NOT NULL,
    -- As JSON.
    value TEXT NOT NULL,
    learned_ms INTEGER NOT NULL,
    PRIMARY KEY (service, error_code, property, relation, value)
  );
  `,
  `
  -- Voices that may be forgotten once they were not used for long.
  CREATE INDEX voices_at_rest ON voices (updated_ms) WHERE status NOT IN ('starting', 'started', 'succeeded');
  `,
  {
    sqlite: `${LANES}
    INSERT INTO lanes SELECT jobs.grp, priority, 1, max(turns.served), min(jobs.id)
      FROM jobs JOIN turns ON turns.grp = jobs.grp GROUP BY jobs.grp, priority;
    CREATE TRIGGER jobs_added AFTER INSERT ON jobs WHEN NEW.ready = 1 BEGIN ${OPEN_LANE} END;
    CREATE TRIGGER jobs_readied AFTER UPDATE OF ready, priority ON jobs WHEN NEW.ready = 1 BEGIN ${OPEN_LANE} END;
    `,
    postgres: `${LANES.replaceAll('INTEGER', 'BIGINT').replaceAll('TEXT', 'TEXT COLLATE "C"')}
    DROP TABLE turns;
    -- The shared lock keeps a claim from closing the lane before this job is there.
    CREATE FUNCTION open_lane() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE is_open BIGINT; BEGIN
      LOOP
        SELECT ready INTO is_open FROM lanes WHERE grp = NEW.grp AND priority = NEW.priority FOR KEY SHARE;
        EXIT WHEN is_open = 1;
        ${OPEN_LANE}
        EXIT WHEN FOUND;
      END LOOP;
      RETURN NULL;
    END $$;
    CREATE TRIGGER jobs_added AFTER INSERT ON jobs FOR EACH ROW WHEN (NEW.ready = 1) EXECUTE FUNCTION open_lane();
    CREATE TRIGGER jobs_readied AFTER UPDATE OF ready, priority ON jobs FOR EACH ROW WHEN (NEW.ready = 1)
      EXECUTE FUNCTION open_lane();
    `,
  },
  `
  -- A published output is known by its path, also when its receipt is not written yet.
  CREATE INDEX jobs_published ON jobs (output, id) WHERE published_sha256 IS NOT NULL;
  `,
  `
  -- Outputs that jobs are making. One whose job has no valid lease is free.
  CREATE TABLE taken_outputs (path TEXT PRIMARY KEY, job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE);
  CREATE INDEX taken_outputs_by_job ON taken_outputs (job_id);
  `,
]
