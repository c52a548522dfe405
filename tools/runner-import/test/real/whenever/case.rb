case @environment
when 'production'
  every 1.day, at: '1:00 am' do
    rake 'a'
  end
when 'staging'
  every :sunday do
    rake 'b'
  end
end
every 1.month do
  rake 'c'
end
