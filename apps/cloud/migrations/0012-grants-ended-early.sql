-- A workflow server that gets no response ends the grant that it asked for, and a cell may handle the request for it only afterwards. The
-- end of an unknown grant is therefore stored: a row with nothing but the id, the server and the end, which makes the request fail.
alter table workflow_grant
  alter column org drop not null,
  alter column kind drop not null,
  alter column account_org drop not null,
  alter column account drop not null,
  alter column ceiling drop not null,
  add constraint workflow_grant_whole_or_ended check (num_nulls(org, kind, account_org, account, ceiling) = 0
    or (ended_at is not null and num_nonnulls(org, kind, account_org, account, ceiling, parent) = 0));
