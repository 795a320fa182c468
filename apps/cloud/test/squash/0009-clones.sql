-- The VM whose disk it began with, for one that was made as a copy.
alter table vm add column source uuid;
alter table vm add constraint vm_source foreign key (org, source) references vm;
