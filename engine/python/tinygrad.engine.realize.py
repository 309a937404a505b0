# Running a schedule by hand.
def run_schedule(schedule, var_vals=None, do_update_stats=True):
  for item in schedule: item.run()
