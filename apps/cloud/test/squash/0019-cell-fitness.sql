-- A cell whose clock, certificate or way to the hosts is wrong says so; while another is fit it follows no host.
alter table cell add column fit boolean not null default true;

-- A cell that lost a host leaves it to other cells until then.
create table standing_back (
  cell text not null,
  host uuid not null references host on delete cascade,
  until timestamptz not null,
  primary key (cell, host)
);
grant select, insert, update, delete on standing_back to skerry_system;
