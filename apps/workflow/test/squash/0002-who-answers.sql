-- A question may have to be answered by somebody else than who started the run.
alter table interaction add column approver text not null default 'anyone' check (approver in ('anyone', 'other'));

-- Why a schedule was paused by itself; null while it runs, or where a person paused it.
alter table schedule add column paused_why text;
