-- The database of a farm, and a role that has it and nothing else. Run it once as a superuser, with the password of the
-- role in the environment:
--
--   VOXMUX_DB_PASSWORD=… psql --file database.sql
\set ON_ERROR_STOP on
\set password `printf %s "$VOXMUX_DB_PASSWORD"`
CREATE ROLE voxmux LOGIN PASSWORD :'password' NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;
CREATE DATABASE voxmux;
REVOKE ALL ON DATABASE voxmux FROM PUBLIC;
GRANT CONNECT ON DATABASE voxmux TO voxmux;
\connect voxmux
REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA AUTHORIZATION voxmux;
