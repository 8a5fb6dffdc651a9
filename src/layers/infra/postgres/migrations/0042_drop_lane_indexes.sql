-- no transaction
-- No release reads them any more. While they had no entries, the planner took a scan of all of them for as good as a
-- look-up in the index of the ordering key, and kept that plan when they had thousands.
drop index concurrently if exists deliveries_lane;
drop index concurrently if exists deliveries_lane_sent;
